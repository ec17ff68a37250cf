// SPDX-License-Identifier: BSD-3-Clause
// Which machine code may be rewritten. Instructions beside the bytes; mmap is number 9.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "arch/arch.h"
#include "arch/handmade_code.h"

namespace nagaya::arch {
namespace {

TEST(FindRedirectSites, FindsALoadFollowedByTheSystemCall) {
  const auto sites = find_redirect_sites(code({0xb8, 9, 0, 0, 0,  // mov $9,%eax
                                               0x0f, 0x05,        // syscall
                                               0xc3}));           // ret
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].offset_bytes, kPaddingBytes);
  EXPECT_EQ(sites[0].window_bytes, 7u);
  EXPECT_EQ(sites[0].number, kSysMmap);
}

TEST(FindRedirectSites, FindsEveryRedirectableNumberAndNoOther) {
  for (unsigned number = 0; number < 512; ++number) {
    const bool wanted = std::find(std::begin(kRedirectable), std::end(kRedirectable), number) !=
                        std::end(kRedirectable);
    const auto text = code(
        {0xb8, static_cast<int>(number & 255), static_cast<int>(number >> 8), 0, 0, 0x0f, 0x05});
    EXPECT_EQ(find_redirect_sites(text).size(), wanted ? 1u : 0u) << "system call " << number;
  }
}

TEST(FindRedirectSites, TakesInstructionsBetweenThatDoNotTouchRax) {
  const auto sites = find_redirect_sites(code({0xb8, 9, 0, 0, 0,  // mov $9,%eax
                                               0x49, 0x89, 0xca,  // mov %rcx,%r10
                                               0x0f, 0x05}));     // syscall
  ASSERT_EQ(sites.size(), 1u);
  EXPECT_EQ(sites[0].window_bytes, 10u);
}

TEST(FindRedirectSites, TakesABranchToTheFirstByteOfTheWindow) {
  const auto text = code({0xeb, 0x00,        // jmp to the load
                          0xb8, 9, 0, 0, 0,  // mov $9,%eax
                          0x0f, 0x05});      // syscall
  EXPECT_EQ(find_redirect_sites(text).size(), 1u);
}

TEST(FindRedirectSites, RefusesABranchIntoTheWindowFromBefore) {
  const auto text = code({0xeb, 0x05,        // jmp to the syscall
                          0xb8, 9, 0, 0, 0,  // mov $9,%eax
                          0x0f, 0x05});      // syscall
  EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, RefusesABranchIntoTheWindowFromBehind) {
  const auto text = code({0xb8, 9, 0, 0, 0,  // mov $9,%eax
                          0x49, 0x89, 0xca,  // mov %rcx,%r10
                          0x0f, 0x05,        // syscall
                          0x75, 0xf9});      // jne to the mov %rcx,%r10
  EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, RefusesACallIntoTheWindow) {
  const auto text = code({0xb8, 9, 0, 0, 0,                // mov $9,%eax
                          0x0f, 0x05,                      // syscall
                          0xe8, 0xf9, 0xff, 0xff, 0xff});  // call the syscall
  EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, RefusesARedZoneBefore) {
  const auto text = code({0x48, 0x89, 0x44, 0x24, 0xf8,  // mov %rax,-8(%rsp)
                          0xb8, 9, 0, 0, 0,              // mov $9,%eax
                          0x0f, 0x05});                  // syscall
  EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, RefusesARedZoneBehind) {
  const auto text = code({0xb8, 9, 0, 0, 0,                // mov $9,%eax
                          0x0f, 0x05,                      // syscall
                          0x48, 0x8b, 0x54, 0x24, 0xf0});  // mov -16(%rsp),%rdx
  EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, RefusesTheUnmappingOfAThreadsOwnStack) {
  const auto text = code({0xb8, 11, 0, 0, 0,  // mov $munmap,%eax
                          0x0f, 0x05,         // syscall
                          0x48, 0x31, 0xff,   // xor %rdi,%rdi
                          0xb8, 60, 0, 0, 0,  // mov $exit,%eax
                          0x0f, 0x05});       // syscall
  EXPECT_TRUE(find_redirect_sites(text).empty());
  const auto returns = code({0xb8, 11, 0, 0, 0, 0x0f, 0x05, 0xc3, 0xb8, 60, 0, 0, 0, 0x0f, 0x05});
  EXPECT_EQ(find_redirect_sites(returns).size(), 1u);
}

TEST(FindRedirectSites, RefusesRaxBetweenLoadAndSystemCall) {
  const std::vector<std::vector<std::byte>> texts = {
      code({0xb8, 9, 0, 0, 0, 0x48, 0x89, 0xc7, 0x0f, 0x05}),  // mov %rax,%rdi
      code({0xb8, 9, 0, 0, 0, 0x83, 0xc0, 0x01, 0x0f, 0x05}),  // add $1,%eax
      code({0xb8, 9, 0, 0, 0, 0xb0, 0x0b, 0x0f, 0x05}),        // mov $11,%al
      code({0xb8, 9, 0, 0, 0, 0x48, 0x8b, 0x38, 0x0f, 0x05}),  // mov (%rax),%rdi
      code({0xb8, 9, 0, 0, 0, 0x0f, 0xa2, 0x0f, 0x05}),        // cpuid: hidden operand
  };
  for (const auto& text : texts) EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, RefusesControlFlowBetweenLoadAndSystemCall) {
  const std::vector<std::vector<std::byte>> texts = {
      code({0xb8, 9, 0, 0, 0, 0x75, 0x20, 0x0f, 0x05}),                    // jne
      code({0xb8, 9, 0, 0, 0, 0xe8, 0x10, 0x00, 0x00, 0x00, 0x0f, 0x05}),  // call
      code({0xb8, 9, 0, 0, 0, 0xc3, 0x0f, 0x05}),                          // ret
  };
  for (const auto& text : texts) EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, RefusesAnAddressRelativeToTheInstruction) {
  const auto text = code({0xb8, 9, 0, 0, 0,                          // mov $9,%eax
                          0x48, 0x8d, 0x3d, 0x00, 0x01, 0x00, 0x00,  // lea 256(%rip),%rdi
                          0x0f, 0x05});                              // syscall
  EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, RefusesALoadThatIsPartOfAnotherInstruction) {
  const std::vector<std::vector<std::byte>> texts = {
      code({0x41, 0xb8, 9, 0, 0, 0, 0x0f, 0x05}),                 // mov $9,%r8d
      code({0x48, 0xb9, 0xb8, 9, 0, 0, 0, 0, 0, 0, 0x0f, 0x05}),  // movabs $..09b8,%rcx
  };
  for (const auto& text : texts) EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, RefusesASystemCallThatIsPartOfAnotherInstruction) {
  const auto text = code({0xb8, 9, 0, 0, 0,                // mov $9,%eax
                          0xb9, 0x0f, 0x05, 0x00, 0x00});  // mov $0x50f,%ecx
  EXPECT_TRUE(find_redirect_sites(text).empty());
}

TEST(FindRedirectSites, FindsTwoSitesSideBySide) {
  const auto text = code({0xb8, 9, 0, 0, 0, 0x0f, 0x05, 0xb8, 11, 0, 0, 0, 0x0f, 0x05});
  const auto sites = find_redirect_sites(text);
  ASSERT_EQ(sites.size(), 2u);
  EXPECT_EQ(sites[1].offset_bytes, kPaddingBytes + 7);
  EXPECT_EQ(sites[1].number, kSysMunmap);
}

TEST(FindRedirectSites, StaysInsideTheTextWhereverItEnds) {
  const auto whole = code({0xb8, 9, 0, 0, 0, 0x49, 0x89, 0xca, 0x0f, 0x05});
  for (size_t bytes = 0; bytes < whole.size() - kPaddingBytes; ++bytes) {
    // A copy of exactly this size: AddressSanitizer sees one byte too many.
    const std::vector<std::byte> text(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(bytes));
    EXPECT_TRUE(find_redirect_sites(text).empty()) << bytes;
  }
}

TEST(FindRedirectSites, SurvivesNoiseAndFindsOnlyWholeWindows) {
  std::mt19937 random(20150901);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> text(2000);
    for (std::byte& byte : text) byte = static_cast<std::byte>(random());
    for (int n = 0; n < 20; ++n) {  // sprinkle real beginnings and ends
      const size_t at = random() % (text.size() - 12);
      text[at] = std::byte{0xb8}, text[at + 1] = std::byte{9};
      text[at + 2] = text[at + 3] = text[at + 4] = std::byte{0};
      text[at + 5 + random() % 4] = std::byte{0x0f};
      text[at + 6 + random() % 4] = std::byte{0x05};
    }
    for (const RedirectSite& site : find_redirect_sites(text)) {
      ASSERT_LE(site.offset_bytes + site.window_bytes, text.size());
      EXPECT_EQ(text[site.offset_bytes], std::byte{0xb8});
      EXPECT_EQ(text[site.offset_bytes + site.window_bytes - 2], std::byte{0x0f});
      EXPECT_EQ(text[site.offset_bytes + site.window_bytes - 1], std::byte{0x05});
    }
  }
}

}  // namespace
}  // namespace nagaya::arch
