// SPDX-License-Identifier: BSD-3-Clause
#include "faces/mpi/environment.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace nagaya::mpi {
namespace {

using Strings = std::vector<std::string>;

TEST(MpiEnvironment, KnowsThreeWordsForTheReach) {
  EXPECT_EQ(reach_in({"NAGAYA_MPI=off"}, Reach::kJob), Reach::kNone);
  EXPECT_EQ(reach_in({"NAGAYA_MPI=local"}, Reach::kJob), Reach::kNode);
  EXPECT_EQ(reach_in({"NAGAYA_MPI=on"}, Reach::kNone), Reach::kJob);
  EXPECT_EQ(reach_in({"PATH=/bin"}, Reach::kNode), Reach::kNode);
  for (const char* wrong : {"NAGAYA_MPI=", "NAGAYA_MPI=On", "NAGAYA_MPI=1"})
    EXPECT_THROW(reach_in({wrong}, Reach::kNode), base::Error) << wrong;
}

TEST(MpiEnvironment, LeavesAnEnvironmentWithoutTheFaceAsItIs) {
  Strings environment = {"NAGAYA_MPI=off", "LD_PRELOAD=libm.so.6", "NAGAYA_MPI_VERBOSE=what"};
  const Strings before = environment;
  preload_face(environment);
  EXPECT_EQ(environment, before);
  environment[0] = "NAGAYA_MPI=local";
  EXPECT_THROW(preload_face(environment), base::Error);
}

TEST(MpiEnvironment, KnowsTheLibrariesOfThreeBinaryInterfaces) {
  for (const char* name : {"libmpi.so.12", "libmpi.so.12.5.1", "libmpich.so.12",
                           "libmpi.so.40.30.4", "libmpi_abi.so.0"})
    EXPECT_TRUE(is_known_library(name)) << name;
  for (const char* name : {"libmpi.so.20", "libmpiseq.so.5", "libmpi_cxx.so.40", "libmpi.so"})
    EXPECT_FALSE(is_known_library(name)) << name;
}

}  // namespace
}  // namespace nagaya::mpi
