// SPDX-License-Identifier: BSD-3-Clause
// disassembly.h - decodes x86-64 code to instructions, and tells their branches and stack accesses.
#pragma once

#include <Zydis/Zydis.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace nagaya::arch {

struct Instruction {
  size_t offset;
  ZydisDecodedInstruction decoded;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
};

// Linear disassembly finds its way back to the true instruction boundaries within a few
// instructions (x86 code is self-synchronising); this much run-up is ample.
inline constexpr size_t kRunUpBytes = 1024;
// Bytes behind a site that cover the rest of its function in the libcs that are rewritten (such
// functions are short wrappers).
inline constexpr size_t kNeighbourhoodBytes = 320;

class Decoder {
 public:
  explicit Decoder(std::span<const std::byte> text) : text_(text) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }
  // Returns false if there is no valid instruction at `offset`.
  bool decode(size_t offset, Instruction* out) const {
    out->offset = offset;
    return offset < text_.size() && ZYAN_SUCCESS(ZydisDecoderDecodeFull(
                                        &decoder_, text_.data() + offset, text_.size() - offset,
                                        &out->decoded, out->operands));
  }

 private:
  std::span<const std::byte> text_;
  ZydisDecoder decoder_;
};

inline std::vector<Instruction> disassemble(std::span<const std::byte> text, size_t from,
                                            size_t to) {
  const Decoder decoder(text);
  std::vector<Instruction> all;
  for (size_t at = from; at < to;) {
    Instruction one{.offset = at, .decoded = {}, .operands = {}};
    if (decoder.decode(at, &one)) {
      at += one.decoded.length;
      all.push_back(one);
    } else {
      at += 1;
    }
  }
  return all;
}

// Disassembles from kRunUpBytes before `offset` to kNeighbourhoodBytes behind it.
inline std::vector<Instruction> disassemble_around(std::span<const std::byte> text, size_t offset) {
  return disassemble(text, offset > kRunUpBytes ? offset - kRunUpBytes : 0,
                     std::min(text.size(), offset + kNeighbourhoodBytes));
}

inline bool moves_control(const Instruction& i) {
  return (i.decoded.attributes & ZYDIS_ATTRIB_IS_RELATIVE) != 0 ||
         i.decoded.meta.branch_type != ZYDIS_BRANCH_TYPE_NONE;
}

inline bool is_part_of(ZydisRegister part, ZydisRegister whole) {
  return ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, part) == whole;
}

inline bool uses_red_zone(const Instruction& i) {
  return std::any_of(i.operands, i.operands + i.decoded.operand_count, [](const auto& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.base == ZYDIS_REGISTER_RSP &&
           operand.mem.disp.value < 0 && operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT;
  });
}

// Returns the target of the branch `i` [offset]; nullopt if it is no branch or an indirect one.
inline std::optional<size_t> target_of(const Instruction& i) {
  ZyanU64 target = 0;
  if (i.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_NONE ||
      !ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&i.decoded, &i.operands[0], i.offset, &target)))
    return std::nullopt;
  return target;
}

// Does `i` branch to an address strictly inside (begin, end)?
inline bool branches_into(const Instruction& i, size_t begin, size_t end) {
  const std::optional<size_t> target = target_of(i);
  return target && *target > begin && *target < end;
}

}  // namespace nagaya::arch
