// SPDX-License-Identifier: BSD-3-Clause
// cpuid.cc - the processor's answers, kept for the life of the host. Freestanding: tasks come
// here from answer_site.cc's thunks.
//
//   empty -> filling   the first task that asks, by compare-and-swap
//   filling -> known   the same, when the answer stands there. A task that dies in between leaves a
//                      place that nobody uses
//
// A question that two ask at once may stand twice. Any number of threads; wait-free. Values that
// differ between processors (their numbers) are those of the first: as if the task had moved since.
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "arch/arch.h"

namespace nagaya::arch {
namespace {

enum class State : uint32_t { kEmpty, kFilling, kKnown };

struct Answer {
  std::atomic<State> state;
  uint32_t leaf, subleaf;
  CpuidRegisters registers;
};

constexpr uint32_t kAnswers = 256;
Answer answers[kAnswers];

CpuidRegisters ask(const CpuidRegisters& question) {
  CpuidRegisters answer = question;
  asm volatile("cpuid" : "+a"(answer.eax), "=b"(answer.ebx), "+c"(answer.ecx), "=d"(answer.edx));
  return answer;
}

}  // namespace
}  // namespace nagaya::arch

// In: eax and ecx, the question. Out: all four.
void nagaya_cpuid(nagaya::arch::CpuidRegisters* registers) {
  using namespace nagaya::arch;
  const CpuidRegisters question = *registers;
  for (uint32_t n = 0; n < kAnswers; ++n) {
    Answer& place = answers[(question.eax * 31 + question.ecx + n) % kAnswers];
    State state = place.state.load(std::memory_order_acquire);  // of kKnown
    if (state == State::kEmpty &&
        place.state.compare_exchange_strong(state, State::kFilling, std::memory_order_relaxed)) {
      place.leaf = question.eax;
      place.subleaf = question.ecx;
      place.registers = *registers = ask(question);
      place.state.store(State::kKnown, std::memory_order_release);
      return;
    }
    if (state == State::kKnown && place.leaf == question.eax && place.subleaf == question.ecx) {
      *registers = place.registers;
      return;
    }
  }
  *registers = ask(question);
}
