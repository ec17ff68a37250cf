// SPDX-License-Identifier: BSD-3-Clause
// redirect_site.cc - finds `mov $number,%eax ... syscall` in x86-64 code, proves by disassembly
// that it can be rewritten, and rewrites it.
//
//   before   b8 NN NN NN NN   [middle]   0f 05              mov $NN,%eax; ...; syscall
//   after    [middle]   ff 14 25 TT TT TT TT                ...; call *TT
//
// The window keeps its length: the call through an absolute 32-bit address takes 7 bytes, as many
// as the load and the syscall. So one table below 2 GiB serves every site of every task, wherever
// its libc lies, and no trampoline has to be placed near it. The stub loads the number itself.
#include <sys/mman.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "arch/arch.h"
#include "arch/x86_64/disassembly.h"

extern "C" const std::byte nagaya_arch_stubs[], nagaya_arch_cpuid[];

namespace nagaya::arch {
namespace {

constexpr size_t kStubBytes = 16;
constexpr size_t kLoadBytes = 5;
constexpr size_t kSyscallBytes = 2;
constexpr size_t kMiddleMaxBytes = 16;

bool touches_rax_or_moves_control(const Instruction& i) {
  if (moves_control(i)) return true;
  const auto is_rax = [](ZydisRegister r) { return is_part_of(r, ZYDIS_REGISTER_RAX); };
  return std::any_of(i.operands, i.operands + i.decoded.operand_count, [&](const auto& operand) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) return is_rax(operand.reg.value);
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) return false;
    return is_rax(operand.mem.base) || is_rax(operand.mem.index);
  });
}

// Returns true if the code right behind the call ends the thread (musl's __unmapself). Such a site
// stays unchanged: the call unmaps the thread's stack, so a stub could not return.
bool is_followed_by_thread_exit(std::vector<Instruction>::const_iterator call,
                                std::vector<Instruction>::const_iterator end) {
  for (auto at = call + 1; at != end && !moves_control(*at); ++at) {
    if (at->decoded.mnemonic == ZYDIS_MNEMONIC_SYSCALL) return false;
    if (at->decoded.mnemonic == ZYDIS_MNEMONIC_MOV &&
        at->operands[0].type == ZYDIS_OPERAND_TYPE_REGISTER &&
        is_part_of(at->operands[0].reg.value, ZYDIS_REGISTER_RAX) &&
        at->operands[1].type == ZYDIS_OPERAND_TYPE_IMMEDIATE &&
        at->operands[1].imm.value.u == SYS_exit)
      return true;
  }
  return false;
}

// Returns the site whose load instruction is at `load`, if it is a site and rewriting it is safe.
std::optional<RedirectSite> prove_site(std::span<const std::byte> text, size_t load,
                                       unsigned number) {
  const std::vector<Instruction> code = disassemble_around(text, load);
  auto at = std::find_if(code.begin(), code.end(), [&](auto& i) { return i.offset == load; });
  if (at == code.end() || at->decoded.mnemonic != ZYDIS_MNEMONIC_MOV) return std::nullopt;
  auto end = at + 1;
  while (end != code.end() && end->decoded.mnemonic != ZYDIS_MNEMONIC_SYSCALL) {
    if (end->offset - load > kLoadBytes + kMiddleMaxBytes) return std::nullopt;
    if (touches_rax_or_moves_control(*end)) return std::nullopt;
    ++end;
  }
  if (end == code.end() || end->decoded.length != kSyscallBytes) return std::nullopt;
  if (number == kSysMunmap && is_followed_by_thread_exit(end, code.end())) return std::nullopt;
  const size_t window_end = end->offset + kSyscallBytes;
  for (const Instruction& i : code) {
    if (branches_into(i, load, window_end)) return std::nullopt;
    if (i.offset + kNeighbourhoodBytes > load && uses_red_zone(i)) return std::nullopt;
  }
  const auto slot = std::find(std::begin(kRedirectable), std::end(kRedirectable), number) -
                    std::begin(kRedirectable);
  return RedirectSite{static_cast<uint32_t>(load), static_cast<uint32_t>(window_end - load), number,
                      static_cast<uint32_t>(slot)};
}

}  // namespace

std::vector<RedirectSite> find_redirect_sites(std::span<const std::byte> text) {
  std::vector<RedirectSite> sites;
  const auto load_opcode = std::byte{0xb8};
  for (auto at = text.begin();; ++at) {
    at = std::find(at, text.end(), load_opcode);
    if (text.end() - at < static_cast<ptrdiff_t>(kLoadBytes + kSyscallBytes)) return sites;
    uint32_t number;
    std::memcpy(&number, &*at + 1, sizeof number);
    if (std::find(std::begin(kRedirectable), std::end(kRedirectable), number) ==
        std::end(kRedirectable))
      continue;
    const auto load = static_cast<size_t>(at - text.begin());
    // Cheap test before the disassembly: is there a `syscall` near enough?
    const std::span tail =
        text.subspan(load + kLoadBytes,
                     std::min(kMiddleMaxBytes + kSyscallBytes, text.size() - load - kLoadBytes));
    const std::byte enter_kernel[] = {std::byte{0x0f}, std::byte{0x05}};
    if (std::search(tail.begin(), tail.end(), std::begin(enter_kernel), std::end(enter_kernel)) ==
        tail.end())
      continue;
    if (auto site = prove_site(text, load, number)) sites.push_back(*site);
  }
}

uintptr_t install_redirect_table() {
  constexpr uintptr_t kFirst = 0x10000000, kLast = 0x70000000, kStep = 0x1000000;
  for (uintptr_t address = kFirst; address <= kLast; address += kStep) {
    void* page = ::mmap(reinterpret_cast<void*>(address), kTableBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED) continue;
    if (page != reinterpret_cast<void*>(address)) {  // a mere hint before Linux 4.17
      ::munmap(page, kTableBytes);
      continue;
    }
    auto* slots = static_cast<const std::byte**>(page);
    for (size_t n = 0; n <= kLinkerMprotectSlot; ++n) slots[n] = nagaya_arch_stubs + n * kStubBytes;
    slots[kCpuidSlot] = nagaya_arch_cpuid;
    ::mprotect(page, kTableBytes, PROT_READ);
    return address;
  }
  return 0;
}

}  // namespace nagaya::arch
