// SPDX-License-Identifier: BSD-3-Clause
// answer_site.cc - finds `cpuid` in x86-64 code and makes thunks that answer it from memory
// (cpuid.cc). In a virtual machine each cpuid exits to the hypervisor, 1 to 15 us, and a dynamic
// linker executes 70 of them as it starts.
//
//   before   [ahead] 0f a2 [behind]         neighbours that may move, in all 7 bytes or more
//   after    ff 14 25 TT TT TT TT  nop ...  call *TT: a thunk of this site
//   thunk    endbr64, [ahead], call *SS, [behind], ret        SS: nagaya_arch_cpuid
//
// Where the red zone may be in use, the window has 12 bytes or more, and calls below the red zone:
//
//   after    48 8d 64 24 80  ff 14 25 ...   lea -128(%rsp),%rsp; call *TT
//   thunk    as above, but ret $128
//
// A branch to a neighbour would miss the thunk, so such windows are dropped. Disassembly finds near
// branches. Far ones (from parts of a function that the compiler has put elsewhere) are found by
// trying every four bytes that can be a distance.
#include <sys/mman.h>

#include <cstring>
#include <optional>

#include "arch/arch.h"
#include "arch/x86_64/disassembly.h"

namespace nagaya::arch {
namespace {

constexpr size_t kCallBytes = 7;
constexpr size_t kCallBelowRedZoneBytes = 12;
constexpr size_t kThunkBytes = 64;
constexpr size_t kSlots = kTableBytes / sizeof(void*);

struct Window {
  size_t begin, cpuid, end;
  uint32_t kind;  // kCpuidSite or kCpuidSiteBelowRedZone
};

// Returns true if the instruction has the same effect at another address and with a lower stack.
bool is_movable(const Instruction& i) {
  if (moves_control(i) || i.decoded.mnemonic == ZYDIS_MNEMONIC_CPUID) return false;
  const auto is_bound = [](ZydisRegister r) {
    return is_part_of(r, ZYDIS_REGISTER_RSP) || is_part_of(r, ZYDIS_REGISTER_RIP);
  };
  return std::none_of(
      i.operands, i.operands + i.decoded.operand_count, [&](const ZydisDecodedOperand& operand) {
        return operand.type == ZYDIS_OPERAND_TYPE_MEMORY
                   ? is_bound(operand.mem.base)
                   : operand.type == ZYDIS_OPERAND_TYPE_REGISTER && is_bound(operand.reg.value);
      });
}

// Tells whether the red zone is dead at an offset: no code reachable from there reads or writes it
// before a call or return, after which it is dead. The inserted call overwrites a part of it.
class RedZone {
 public:
  explicit RedZone(std::span<const std::byte> text) : decoder_(text), is_dead_(text.size()) {}

  bool is_dead_at(size_t offset) {
    std::vector<size_t> ways{offset}, come;
    while (!ways.empty()) {
      const size_t at = ways.back();
      ways.pop_back();
      if (at < is_dead_.size() && is_dead_[at]) continue;
      Instruction i;
      if (!decoder_.decode(at, &i) || uses_red_zone(i) || !follow(i, ways)) {
        for (const size_t there : come) is_dead_[there] = false;
        return false;
      }
      is_dead_[at] = true;  // assumed, until another path proves otherwise
      come.push_back(at);
    }
    return true;
  }

 private:
  // Adds the successors of `i` to `ways`. Returns false if the target of a branch is unknown.
  static bool follow(const Instruction& i, std::vector<size_t>& ways) {
    const ZydisInstructionCategory category = i.decoded.meta.category;
    if (category == ZYDIS_CATEGORY_RET || category == ZYDIS_CATEGORY_CALL ||
        i.decoded.mnemonic == ZYDIS_MNEMONIC_UD2 || i.decoded.mnemonic == ZYDIS_MNEMONIC_HLT)
      return true;
    if (category != ZYDIS_CATEGORY_UNCOND_BR) ways.push_back(i.offset + i.decoded.length);
    if (i.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE) return true;
    const std::optional<size_t> target = target_of(i);
    if (target) ways.push_back(*target);
    return target.has_value();
  }

  const Decoder decoder_;
  std::vector<bool> is_dead_;
};

// Returns a window of whole instructions around the `cpuid`, `bytes` or more, if they may move and
// no near branch leads into it. First takes instructions that follow the `cpuid`, then those before
// it, because branches lead more often to those before it.
std::optional<Window> take_neighbours(const std::vector<Instruction>& code, size_t cpuid,
                                      size_t bytes, uint32_t kind) {
  auto last = std::find_if(code.begin(), code.end(), [&](auto& i) { return i.offset == cpuid; });
  if (last == code.end() || last->decoded.mnemonic != ZYDIS_MNEMONIC_CPUID) return std::nullopt;
  auto first = last;
  const auto end_of = [](const Instruction& i) { return i.offset + i.decoded.length; };
  const auto is_short = [&] { return end_of(*last) - first->offset < bytes; };
  while (is_short() && last + 1 != code.end() && is_movable(last[1]) &&
         last[1].offset == end_of(*last))
    ++last;
  while (is_short() && first != code.begin() && is_movable(first[-1]) &&
         end_of(first[-1]) == first->offset)
    --first;
  const Window window{first->offset, cpuid, end_of(*last), kind};
  const bool is_safe =
      !is_short() && std::none_of(code.begin(), code.end(), [&](const Instruction& i) {
        return branches_into(i, window.begin, window.end);
      });
  return is_safe ? std::optional(window) : std::nullopt;
}

std::optional<Window> prove_window(std::span<const std::byte> text, size_t cpuid,
                                   RedZone& red_zone) {
  const std::vector<Instruction> code = disassemble_around(text, cpuid);
  std::optional<Window> window;
  if (red_zone.is_dead_at(cpuid)) window = take_neighbours(code, cpuid, kCallBytes, kCpuidSite);
  return window ? window
                : take_neighbours(code, cpuid, kCallBelowRedZoneBytes, kCpuidSiteBelowRedZone);
}

// Drops the windows into which any four bytes of the text, read as a branch distance, would lead.
void drop_those_reached_from_afar(std::span<const std::byte> text, std::vector<Window>& windows) {
  if (windows.empty()) return;
  for (size_t at = 2; at + 4 <= text.size(); ++at) {
    const auto before = static_cast<uint8_t>(text[at - 2]),
               opcode = static_cast<uint8_t>(text[at - 1]);
    const bool is_branch = opcode == 0xe8 || opcode == 0xe9 ||           // call, jmp
                           (before == 0x0f && (opcode & 0xf0) == 0x80);  // jcc
    if (!is_branch) continue;
    int32_t distance;
    std::memcpy(&distance, &text[at], sizeof distance);
    const auto target = static_cast<int64_t>(at) + 4 + distance;
    if (target <= static_cast<int64_t>(windows.front().begin) ||
        target >= static_cast<int64_t>(windows.back().end))
      continue;
    std::erase_if(windows, [&](const Window& window) {
      return target > static_cast<int64_t>(window.begin) &&
             target < static_cast<int64_t>(window.end);
    });
    if (windows.empty()) return;
  }
}

std::vector<Window> find_windows(std::span<const std::byte> text) {
  constexpr std::byte kCpuid[] = {std::byte{0x0f}, std::byte{0xa2}};
  std::vector<Window> windows;
  RedZone red_zone(text);
  for (auto at = text.begin();; ++at) {
    at = std::search(at, text.end(), std::begin(kCpuid), std::end(kCpuid));
    if (at == text.end()) break;
    const auto window = prove_window(text, static_cast<size_t>(at - text.begin()), red_zone);
    if (window && (windows.empty() || windows.back().end <= window->begin))
      windows.push_back(*window);
  }
  drop_those_reached_from_afar(text, windows);
  return windows;
}

std::byte* append(std::byte* out, std::initializer_list<uint8_t> bytes) {
  for (const uint8_t byte : bytes) *out++ = std::byte{byte};
  return out;
}

void write_thunk(std::byte* out, std::span<const std::byte> text, const Window& window,
                 uintptr_t stub) {
  constexpr size_t kCpuidBytes = 2;
  const auto byte = [&](int n) { return static_cast<uint8_t>(stub >> 8 * n); };
  out = append(out, {0xf3, 0x0f, 0x1e, 0xfa});  // endbr64
  out = std::copy(text.begin() + window.begin, text.begin() + window.cpuid, out);
  out = append(out, {0xff, 0x14, 0x25, byte(0), byte(1), byte(2), byte(3)});
  out = std::copy(text.begin() + window.cpuid + kCpuidBytes, text.begin() + window.end, out);
  if (window.kind == kCpuidSite)
    append(out, {0xc3});  // ret
  else
    append(out, {0xc2, 0x80, 0x00});  // ret $128
}

}  // namespace

std::vector<RedirectSite> make_answer_sites(std::span<const std::byte> text, uintptr_t table) {
  std::vector<Window> windows = find_windows(text);
  auto* const slots = reinterpret_cast<const std::byte**>(table);
  const auto used = static_cast<size_t>(
      std::find(slots, slots + kSlots, static_cast<const std::byte*>(nullptr)) - slots);
  windows.resize(std::min(windows.size(), kSlots - used));
  if (windows.empty()) return {};
  const size_t bytes = windows.size() * kThunkBytes;
  void* const memory =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return {};
  auto* const thunks = static_cast<std::byte*>(memory);
  const uintptr_t stub = table + kCpuidSlot * sizeof(void*);
  for (size_t n = 0; n < windows.size(); ++n)
    write_thunk(thunks + n * kThunkBytes, text, windows[n], stub);
  if (::mprotect(memory, bytes, PROT_READ | PROT_EXEC) != 0 ||
      ::mprotect(slots, kTableBytes, PROT_READ | PROT_WRITE) != 0) {
    ::munmap(memory, bytes);
    return {};
  }
  std::vector<RedirectSite> sites;
  for (size_t n = 0; n < windows.size(); ++n) {
    slots[used + n] = thunks + n * kThunkBytes;
    sites.push_back({static_cast<uint32_t>(windows[n].begin),
                     static_cast<uint32_t>(windows[n].end - windows[n].begin), windows[n].kind,
                     static_cast<uint32_t>(used + n)});
  }
  ::mprotect(slots, kTableBytes, PROT_READ);
  return sites;
}

}  // namespace nagaya::arch
