// SPDX-License-Identifier: BSD-3-Clause
// Rewritten code is run: the call must arrive in nagaya_redirect() with the registers of the
// system call and return to the instruction behind the window.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>

#include "arch/arch.h"
#include "arch/handmade_code.h"

namespace {

nagaya::arch::SyscallFrame last_frame;
long next_result;

}  // namespace

// In the place of src/task: records the call. Only general registers, as the real one.
long nagaya_redirect(const nagaya::arch::SyscallFrame* frame) {
  volatile unsigned long* out = reinterpret_cast<unsigned long*>(&last_frame);
  const auto* in = reinterpret_cast<const unsigned long*>(frame);
  for (size_t n = 0; n < sizeof last_frame / sizeof *in; ++n) out[n] = in[n];
  return next_result;
}

namespace nagaya::arch {
namespace {

TEST(RewriteSite, KeepsTheLengthAndTheMiddle) {
  auto text = code({0xb8, 25, 0, 0, 0,                   // mov $25,%eax: mremap
                    0x49, 0x89, 0xca, 0x4d, 0x89, 0xc8,  // mov %rcx,%r10; mov %r9,%r8
                    0x0f, 0x05, 0xc3});                  // syscall; ret
  const auto before = text;
  const auto sites = find_redirect_sites(text);
  ASSERT_EQ(sites.size(), 1u);
  const uintptr_t table = 0x12345000;
  rewrite_site(text.data() + kPaddingBytes, sites[0], table);

  EXPECT_TRUE(std::equal(text.begin(), text.begin() + kPaddingBytes, before.begin()));
  EXPECT_EQ(std::memcmp(&text[kPaddingBytes], &before[kPaddingBytes + 5], 6), 0);
  const uint8_t call[] = {0xff, 0x14, 0x25, 0x10, 0x50, 0x34, 0x12};  // third slot of the table
  EXPECT_EQ(std::memcmp(&text[kPaddingBytes + 6], call, sizeof call), 0);
  const size_t end = kPaddingBytes + 13;
  EXPECT_TRUE(std::equal(text.begin() + end, text.end(), before.begin() + end));
}

TEST(RewriteSite, UsesOneSlotPerSystemCall) {
  for (size_t slot = 0; slot < std::size(kRedirectable); ++slot) {
    std::byte window[7] = {};
    rewrite_site(window, {0, sizeof window, kRedirectable[slot], static_cast<uint32_t>(slot)},
                 0x10000000);
    uint32_t address;
    std::memcpy(&address, window + 3, sizeof address);
    EXPECT_EQ(address, 0x10000000 + slot * 8);
  }
}

TEST(RewriteSite, LeavesNoSiteBehind) {
  auto text = code({0xb8, 9, 0, 0, 0, 0x49, 0x89, 0xca, 0x0f, 0x05, 0xc3});
  rewrite_site(text.data() + kPaddingBytes, find_redirect_sites(text).at(0), 0x10000000);
  EXPECT_TRUE(find_redirect_sites(text).empty());
}

// A function of six arguments around a system call, as libc's wrappers are, in executable memory.
class RewrittenFunction {
 public:
  explicit RewrittenFunction(unsigned number) {
    const auto low = static_cast<int>(number & 255), high = static_cast<int>(number >> 8);
    auto text = code({0xb8, low, high, 0, 0,  // mov $number,%eax
                      0x49, 0x89, 0xca,       // mov %rcx,%r10
                      0x0f, 0x05, 0xc3});     // syscall; ret
    static const uintptr_t table = install_redirect_table();
    rewrite_site(text.data() + kPaddingBytes, find_redirect_sites(text).at(0), table);
    page_ = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    std::memcpy(page_, text.data(), text.size());
    ::mprotect(page_, 4096, PROT_READ | PROT_EXEC);
  }
  ~RewrittenFunction() { ::munmap(page_, 4096); }

  uintptr_t behind_call() const { return entry() + 3 + 7; }
  long operator()(long a, long b, long c, long d, long e, long f) const {
    return reinterpret_cast<long (*)(long, long, long, long, long, long)>(entry())(a, b, c, d, e,
                                                                                   f);
  }

 private:
  uintptr_t entry() const { return reinterpret_cast<uintptr_t>(page_) + kPaddingBytes; }

  void* page_;
};

TEST(RedirectTable, LiesWhereEverySiteReachesIt) {
  const uintptr_t table = install_redirect_table();
  ASSERT_NE(table, 0u);
  EXPECT_LT(table + 4096, uint64_t{1} << 31);
}

TEST(RedirectTable, IsNotLaidOverAnother) {
  EXPECT_NE(install_redirect_table(), install_redirect_table());
}

TEST(RedirectStub, HandsOverTheRegistersOfTheSystemCall) {
  for (unsigned number : kRedirectable) {
    const RewrittenFunction function(number);
    next_result = -static_cast<long>(number);
    EXPECT_EQ(function(11, 22, 33, 44, 55, 66), -static_cast<long>(number));
    EXPECT_EQ(last_frame.number, number);
    const unsigned long expected[] = {11, 22, 33, 44, 55, 66};
    EXPECT_EQ(std::memcmp(last_frame.args, expected, sizeof expected), 0) << number;
    EXPECT_EQ(last_frame.return_address, function.behind_call());
  }
}

// A system call changes rax, rcx and r11 only: compilers rely on it.
TEST(RedirectStub, KeepsTheArgumentRegisters) {
  const RewrittenFunction function(kSysMmap);
  next_result = 7;
  unsigned long rdi = 1, rsi = 2, rdx = 3, r8_out, r9_out;
  long rax;
  asm volatile(
      "mov $4, %%rcx\n\tmov $5, %%r8\n\tmov $6, %%r9\n\t"
      "sub $128, %%rsp\n\tcall *%%rbx\n\tadd $128, %%rsp\n\t"
      "mov %%r8, %[r8_out]\n\tmov %%r9, %[r9_out]"
      : "=a"(rax), "+D"(rdi), "+S"(rsi), "+d"(rdx), [r8_out] "=m"(r8_out), [r9_out] "=m"(r9_out)
      : "b"(function.behind_call() - 10)
      : "rcx", "r8", "r9", "r10", "r11", "r12", "memory", "cc");
  EXPECT_EQ(rax, 7);
  EXPECT_EQ(rdi, 1u);
  EXPECT_EQ(rsi, 2u);
  EXPECT_EQ(rdx, 3u);
  EXPECT_EQ(r8_out, 5u);
  EXPECT_EQ(r9_out, 6u);
}

}  // namespace
}  // namespace nagaya::arch
