// SPDX-License-Identifier: BSD-3-Clause
// redirect_site.cc - finds `mov $number,%eax ... syscall` in x86-64 code, proves by disassembly
// that it can be rewritten, and rewrites it.
//
//   before   b8 NN NN NN NN   [middle]   0f 05              mov $NN,%eax; ...; syscall
//   after    [middle]   ff 14 25 TT TT TT TT                ...; call *TT
//
// The window keeps its length: the call through an absolute 32-bit address takes 7 bytes, as do
// the load and the syscall. So one table below 2 GiB serves every site of every task, wherever
// its libc lies, and no trampoline has to be placed near it. The stub loads the number itself.
#include <Zydis/Zydis.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "arch/arch.h"

extern "C" const std::byte nagaya_arch_stubs[];

namespace nagaya::arch {
namespace {

constexpr size_t kStubBytes = 16;
constexpr size_t kLoadBytes = 5;
constexpr size_t kSyscallBytes = 2;
constexpr size_t kMiddleMaxBytes = 16;
// Linear disassembly finds its way back to the true instruction boundaries within a few
// instructions (x86 code is self-synchronising); this much run-up is ample.
constexpr size_t kRunUpBytes = 1024;
// Around a site, at least its whole function in the libcs that are rewritten (they are wrappers).
constexpr size_t kNeighbourhoodBytes = 320;

struct Instruction {
  size_t offset;
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

std::vector<Instruction> disassemble(std::span<const std::byte> text, size_t from, size_t to) {
  ZydisDecoder decoder;
  ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  std::vector<Instruction> all;
  for (size_t at = from; at < to;) {
    Instruction one{.offset = at, .decoded = {}, .operands = {}};
    if (ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, text.data() + at, text.size() - at,
                                            &one.decoded, one.operands))) {
      at += one.decoded.length;
      all.push_back(one);
    } else {
      at += 1;
    }
  }
  return all;
}

bool touches_rax_or_moves_control(const Instruction& i) {
  if ((i.decoded.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0) return true;
  if (i.decoded.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE) return true;
  const auto is_rax = [](ZydisRegister r) {
    return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r) == ZYDIS_REGISTER_RAX;
  };
  return std::any_of(i.operands, i.operands + i.decoded.operand_count, [&](const auto& operand) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) return is_rax(operand.reg.value);
    if (operand.type != ZYDIS_OPERAND_TYPE_MEMORY) return false;
    return is_rax(operand.mem.base) || is_rax(operand.mem.index);
  });
}

bool uses_red_zone(const Instruction& i) {
  return std::any_of(i.operands, i.operands + i.decoded.operand_count, [](const auto& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RSP &&
           operand.mem.disp.value < 0 && operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
  });
}

// Does `i` branch to an address strictly inside (begin, end)?
bool branches_into(const Instruction& i, size_t begin, size_t end) {
  if (i.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE) return false;
  ZyanU64 target = 0;
  if (!ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&i.decoded, &i.operands[0], i.offset, &target)))
    return false;
  return target > begin && target < end;
}

// The site whose load stands at `load`, if it is one and rewriting it is safe.
std::optional<RedirectSite> prove_site(std::span<const std::byte> text, size_t load,
                                       unsigned number) {
  const size_t from = load > kRunUpBytes ? load - kRunUpBytes : 0;
  const size_t to = std::min(text.size(), load + kNeighbourhoodBytes);
  const std::vector<Instruction> code = disassemble(text, from, to);
  auto at = std::find_if(code.begin(), code.end(), [&](auto& i) { return i.offset == load; });
  if (at == code.end() || at->decoded.mnemonic != ZYDIS_MNEMONIC_MOV) return std::nullopt;
  auto end = at + 1;
  while (end != code.end() && end->decoded.mnemonic != ZYDIS_MNEMONIC_SYSCALL) {
    if (end->offset - load > kLoadBytes + kMiddleMaxBytes) return std::nullopt;
    if (touches_rax_or_moves_control(*end)) return std::nullopt;
    ++end;
  }
  if (end == code.end() || end->decoded.length != kSyscallBytes) return std::nullopt;
  const size_t window_end = end->offset + kSyscallBytes;
  for (const Instruction& i : code) {
    if (branches_into(i, load, window_end)) return std::nullopt;
    if (i.offset + kNeighbourhoodBytes > load && uses_red_zone(i)) return std::nullopt;
  }
  return RedirectSite{static_cast<uint32_t>(load), static_cast<uint32_t>(window_end - load),
                      number};
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
  constexpr size_t kTableBytes = 4096;
  constexpr uintptr_t kFirst = 0x10000000, kLast = 0x70000000, kStep = 0x1000000;
  for (uintptr_t address = kFirst; address <= kLast; address += kStep) {
    void* page = ::mmap(reinterpret_cast<void*>(address), kTableBytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (page == MAP_FAILED) continue;
    if (page != reinterpret_cast<void*>(address)) {  // kernels before 4.17 take it as a hint
      ::munmap(page, kTableBytes);
      continue;
    }
    auto* slots = static_cast<const std::byte**>(page);
    for (size_t n = 0; n < std::size(kRedirectable); ++n)
      slots[n] = nagaya_arch_stubs + n * kStubBytes;
    ::mprotect(page, kTableBytes, PROT_READ);
    return address;
  }
  return 0;
}

}  // namespace nagaya::arch
