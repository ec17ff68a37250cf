// SPDX-License-Identifier: BSD-3-Clause
// Which questions to the processor may be answered from memory, and that the answer is the same and
// nothing else changes. Instructions beside the bytes.
#include <cpuid.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "arch/arch.h"
#include "arch/handmade_code.h"

namespace nagaya::arch {
namespace {

uintptr_t table() {
  static const uintptr_t made = install_redirect_table();
  return made;
}

std::vector<RedirectSite> sites_of(const std::vector<std::byte>& text) {
  return make_answer_sites(text, table());
}

TEST(AnswerSites, TakeNeighboursBehindUntilACallFits) {
  const auto sites = sites_of(code({0x0f, 0xa2,           // cpuid
                                    0x89, 0xc2,           // mov %eax,%edx
                                    0x83, 0xe2, 0x1f,     // and $31,%edx
                                    0x89, 0xd6, 0xc3}));  // mov %edx,%esi; ret
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].offset_bytes, kPaddingBytes);
  EXPECT_EQ(sites[0].window_bytes, 7u);
  EXPECT_EQ(sites[0].number, kCpuidSite);
}

TEST(AnswerSites, TakeNeighboursAheadWhereThoseBehindDoNotDo) {
  const auto sites = sites_of(code({0x89, 0xf8,     // mov %edi,%eax
                                    0x31, 0xc9,     // xor %ecx,%ecx
                                    0x0f, 0xa2,     // cpuid
                                    0x89, 0xc2,     // mov %eax,%edx
                                    0x50, 0xc3}));  // push %rax; ret
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].offset_bytes, kPaddingBytes);
  EXPECT_EQ(sites[0].window_bytes, 8u);
}

TEST(AnswerSites, LeaveTheStackBranchesAndWhatCountsFromHereWhereTheyAre) {
  for (const auto& neighbour : std::vector<std::vector<int>>{
           {0x89, 0x44, 0x24, 0x08},                    // mov %eax,8(%rsp)
           {0x50},                                      // push %rax
           {0x48, 0x83, 0xc4, 0x08},                    // add $8,%rsp
           {0x48, 0x8d, 0x05, 0x10, 0x00, 0x00, 0x00},  // lea 16(%rip),%rax
           {0xeb, 0x00},                                // jmp to the next
           {0xe8, 0x00, 0x00, 0x00, 0x00}}) {           // call the next
    std::vector<std::byte> text;
    for (int part = 0; part < 2; ++part) {
      for (const int byte : neighbour) text.push_back(static_cast<std::byte>(byte));
      if (part == 0) text.insert(text.end(), {std::byte{0x0f}, std::byte{0xa2}});
    }
    text.resize(text.size() + kPaddingBytes, std::byte{0xc3});
    EXPECT_TRUE(sites_of(text).empty()) << "neighbour " << neighbour[0];
  }
}

TEST(AnswerSites, RefuseABranchIntoTheWindow) {
  EXPECT_TRUE(sites_of(code({0x0f, 0xa2,          // cpuid
                             0x89, 0xc2,          // mov %eax,%edx
                             0x83, 0xe2, 0x1f,    // and $31,%edx
                             0x75, 0xf9, 0xc3}))  // jne to the mov; ret
                  .empty());
}

TEST(AnswerSites, TakeABranchToTheFirstByte) {
  EXPECT_EQ(sites_of(code({0x0f, 0xa2,          // cpuid
                           0x89, 0xc2,          // mov %eax,%edx
                           0x83, 0xe2, 0x1f,    // and $31,%edx
                           0x75, 0xf7, 0xc3}))  // jne to the cpuid; ret
                .size(),
            1u);
}

TEST(AnswerSites, RefuseABranchFromAfar) {
  auto text = code({0x0f, 0xa2, 0x89, 0xc2, 0x83, 0xe2, 0x1f, 0xc3});
  text.resize(100000, std::byte{kNop});
  ASSERT_EQ(sites_of(text).size(), 1u);
  const size_t from = 90000;
  const auto jump = [&](std::initializer_list<uint8_t> opcode, size_t to) {
    auto changed = text;
    size_t at = from;
    for (const uint8_t byte : opcode) changed[at++] = std::byte{byte};
    const auto distance =
        static_cast<int32_t>(static_cast<int64_t>(to) - static_cast<int64_t>(at + 4));
    std::memcpy(&changed[at], &distance, sizeof distance);
    return sites_of(changed).size();
  };
  EXPECT_EQ(jump({0xe9}, kPaddingBytes + 2), 0u);        // jmp
  EXPECT_EQ(jump({0xe8}, kPaddingBytes + 4), 0u);        // call
  EXPECT_EQ(jump({0x0f, 0x84}, kPaddingBytes + 2), 0u);  // je
  EXPECT_EQ(jump({0xe9}, kPaddingBytes), 1u);            // to the window itself
  EXPECT_EQ(jump({0xe9}, kPaddingBytes + 7), 1u);        // behind it
}

// Sites that have room for 7 bytes, but not for 12.
TEST(AnswerSites, RefuseARedZoneThatIsReadLater) {
  const std::vector<int> behind_a_branch = {
      0x50,                                      // push %rax
      0x0f, 0xa2, 0x89, 0xc2, 0x83, 0xe2, 0x1f,  // cpuid; mov %eax,%edx; and $31,%edx
      0x74, 0x01, 0xc3,                          // je over the ret; ret
      0x8b, 0x44, 0x24, 0xf8, 0xc3};             // mov -8(%rsp),%eax; ret
  std::vector<std::byte> text(kPaddingBytes, std::byte{kNop});
  for (const int byte : behind_a_branch) text.push_back(static_cast<std::byte>(byte));
  EXPECT_TRUE(sites_of(text).empty());
}

TEST(AnswerSites, TakeARedZoneOfAnotherFunctionNearby) {
  EXPECT_EQ(sites_of(code({0x89, 0x44, 0x24, 0xf8, 0xc3,    // mov %eax,-8(%rsp); ret
                           0x0f, 0xa2,                      // cpuid
                           0x89, 0xc2,                      // mov %eax,%edx
                           0x83, 0xe2, 0x1f, 0xc3,          // and $31,%edx; ret
                           0x8b, 0x44, 0x24, 0xf8, 0xc3}))  // mov -8(%rsp),%eax; ret
                .size(),
            1u);
}

TEST(AnswerSites, RefuseEveryWayOutOfTheText) {
  EXPECT_TRUE(sites_of(code({0x50, 0x0f, 0xa2, 0x89, 0xc2, 0x83, 0xe2, 0x1f,  // as above
                             0x50, 0x0f, 0xa2, 0x89, 0xc2, 0x83, 0xe2, 0x1f,  // on the same way
                             0xe9, 0x00, 0x00, 0x10, 0x00}))                  // jmp a megabyte on
                  .empty());
}

TEST(AnswerSites, RefuseWhatEndsNobodyKnowsWhere) {
  EXPECT_TRUE(sites_of(code({0x50, 0x0f, 0xa2, 0x89, 0xc2, 0x83, 0xe2, 0x1f,  // as above
                             0xff, 0xe2}))                                    // jmp *%rdx
                  .empty());
}

TEST(AnswerSites, TakeTwelveBytesWhereTheRedZoneMayBeInUse) {
  const auto sites = sites_of(code({0x41, 0xbc, 0x0d, 0x00, 0x00, 0x00,  // mov $13,%r12d
                                    0x0f, 0xa2,                          // cpuid
                                    0x89, 0x07,                          // mov %eax,(%rdi)
                                    0x83, 0xfe, 0x02,                    // cmp $2,%esi
                                    0xff, 0xe2}));                       // jmp *%rdx
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].offset_bytes, kPaddingBytes);
  EXPECT_EQ(sites[0].window_bytes, 13u);
  EXPECT_EQ(sites[0].number, kCpuidSiteBelowRedZone);
}

// Code that asks: leaf %edi, subleaf %esi; the answer's %ebx also in %r8d. Rewritten and run.
class Question {
 public:
  explicit Question(uint32_t kind) {
    // mov %edi,%eax; mov %esi,%ecx; cpuid; mov %ebx,%r8d; ret
    auto text = code({0x89, 0xf8, 0x89, 0xf1, 0x0f, 0xa2, 0x41, 0x89, 0xd8, 0xc3});
    // As above, with %edi in the red zone meanwhile, and three nops.
    if (kind == kCpuidSiteBelowRedZone)
      text = code({0x89, 0x7c, 0x24, 0xf8, 0x89, 0xf8, 0x89, 0xf1, 0x0f, 0xa2, 0x41,
                   0x89, 0xd8, 0x90, 0x90, 0x90, 0x8b, 0x7c, 0x24, 0xf8, 0xc3});
    const auto sites = sites_of(text);
    EXPECT_EQ(sites.size(), 1u);
    EXPECT_EQ(sites.at(0).number, kind);
    rewrite_site(text.data() + sites.at(0).offset_bytes, sites.at(0), table());
    page_ = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(page_, text.data(), text.size());
    ::mprotect(page_, 4096, PROT_READ | PROT_EXEC);
  }
  ~Question() { ::munmap(page_, 4096); }
  const std::byte* entry() const { return static_cast<const std::byte*>(page_) + kPaddingBytes; }

 private:
  void* page_;
};

struct Everything {
  uint64_t rax, rbx, rcx, rdx, r8, r9, r10, r11, rsi, rdi, flags;
};

Everything ask(const std::byte* entry, uint32_t leaf, uint32_t subleaf, bool carry) {
  uint64_t rax = carry, rbx, rcx, rdx, rsi = subleaf, rdi = leaf;
  register uint64_t r8 asm("r8") = 8, r9 asm("r9") = 9, r10 asm("r10") = 10, r11 asm("r11") = 11;
  register uint64_t flags asm("r12");
  asm volatile(
      "sub $128, %%rsp\n\tneg %%rax\n\t"  // the carry flag
      "call *%[entry]\n\tpushfq\n\tpop %%r12\n\tadd $128, %%rsp"
      : "+a"(rax), "=&b"(rbx), "=&c"(rcx), "=&d"(rdx), "+r"(r8), "+r"(r9), "+r"(r10), "+r"(r11),
        "+S"(rsi), "+D"(rdi), "=&r"(flags)
      : [entry] "r"(entry)
      : "memory", "cc");
  return {rax, rbx, rcx, rdx, r8, r9, r10, r11, rsi, rdi, flags};
}

class Answer : public testing::TestWithParam<uint32_t> {};

TEST_P(Answer, IsThatOfTheProcessorEachTime) {
  const Question question(GetParam());
  for (const uint32_t leaf : {0u, 1u, 2u, 4u, 7u, 0xdu, 0x80000000u, 0x80000008u})
    for (uint32_t subleaf = 0; subleaf < 3; ++subleaf)
      for (int times = 0; times < 2; ++times) {
        uint32_t a, b, c, d;
        __cpuid_count(leaf, subleaf, a, b, c, d);
        const Everything all = ask(question.entry(), leaf, subleaf, false);
        EXPECT_EQ(all.rax, a) << leaf;
        if (leaf != 1) {  // its number is there
          EXPECT_EQ(all.rbx, b) << leaf;
        }
        EXPECT_EQ(all.rcx, c) << leaf;
        EXPECT_EQ(all.rdx, d) << leaf;
        EXPECT_EQ(all.r8, all.rbx) << "the neighbour behind";
      }
}

TEST_P(Answer, IsGivenToMoreQuestionsThanAreKept) {
  const Question question(GetParam());
  uint32_t a, b, c, d;
  for (uint32_t subleaf = 0; subleaf < 1000; ++subleaf) ask(question.entry(), 0, subleaf, false);
  __cpuid(0x80000002, a, b, c, d);
  EXPECT_EQ(ask(question.entry(), 0x80000002, 7, false).rax, a);
}

TEST_P(Answer, ChangesNoOtherRegisterAndNoFlag) {
  const Question question(GetParam());
  for (const bool carry : {false, true}) {
    const Everything all = ask(question.entry(), 0, 5, carry);
    EXPECT_EQ(all.flags & 1, carry ? 1u : 0u);
    EXPECT_EQ(all.rdi, 0u);
    EXPECT_EQ(all.rsi, 5u);
    EXPECT_EQ(all.r9, 9u);
    EXPECT_EQ(all.r10, 10u);
    EXPECT_EQ(all.r11, 11u);
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, Answer, testing::Values(kCpuidSite, kCpuidSiteBelowRedZone));

}  // namespace
}  // namespace nagaya::arch
