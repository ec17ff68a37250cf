// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_library.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace nagaya::tools {
namespace {

using namespace std::string_view_literals;

TEST(ReleaseIn, IsTheMakersNameAndTheFirstNumberOfItsForm) {
  const struct {
    std::string_view content;
    const char* text;
  } cases[] = {
      {"\0Open MPI v%d.%d.%d\0x4.1.3\0004.1.4\0005.0.0\0"sv, "Open MPI 4.1.4"},
      {"\0Open MPI v%d.%d.%d%s\0005.0.0rc2\0"sv, "Open MPI 5.0.0rc2"},
      {"\0127.0.0.1\0004.0.2\0MPICH Version:\t%s\0"sv, "MPICH 4.0.2"},
      {"\0001.3.2\0MPICH Version\0Intel(R) MPI Library\0002021.18.1\0"sv, "Intel MPI 2021.18.1"},
      {"\0Intel(R) MPI Library\0002021.9\0"sv, "Intel MPI 2021.9"},
      {"\0003.4.3\0MPICH Version\0MVAPICH Version\0"sv, "MVAPICH"},
      {"\0Open MPI v%d.%d.%d\0"sv, "Open MPI"},
      {"\0004.1.4\0"sv, "an unknown MPI"},
      {"", "an unknown MPI"},
  };
  for (const auto& one : cases) EXPECT_EQ(release_in(one.content).text(), one.text);
}

TEST(MpiOfProgram, IsNoneForAProgramWithoutMpi) {
  EXPECT_FALSE(mpi_of_program({"/proc/self/exe", "itself", {}, {}}));
}

}  // namespace
}  // namespace nagaya::tools
