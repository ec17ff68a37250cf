// SPDX-License-Identifier: BSD-3-Clause
// cpuid.cc - caches the results of cpuid for the life of the host. Freestanding: answer_site.cc's
// thunks call it in tasks.
//
//   empty -> filling   the first task that asks, by compare-and-swap
//   filling -> known   the same task, after it has stored the answer. A task that dies in between
//                      leaves an entry that no task uses
//
// Two tasks that ask the same question at once may both enter it. Any number of threads; wait-free.
// Values that differ between processors (their numbers) are those of the first asker's processor,
// as if the task had moved since.
#include <atomic>
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

// Answers cpuid: reads eax and ecx, the question; sets all four registers.
void nagaya_cpuid(nagaya::arch::CpuidRegisters* registers) {
  using namespace nagaya::arch;
  const CpuidRegisters question = *registers;
  for (uint32_t n = 0; n < kAnswers; ++n) {
    Answer& place = answers[(question.eax * 31 + question.ecx + n) % kAnswers];
    State state = place.state.load(std::memory_order_acquire);  // pairs with the release of kKnown
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
