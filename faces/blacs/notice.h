// SPDX-License-Identifier: BSD-3-Clause
// notice.h - what a job says about whether this library has taken the place of another BLACS. At
// the exit of a program that has not called this library, a line warns the user.
#pragma once

#include <string>

namespace nagaya::blacs {

// With NAGAYA_MPI_VERBOSE=1 prints a line that says that this library serves the job.
void tell_of_use();

// Returns the file of another BLACS in which this process has made contexts; "": there is none.
std::string file_of_other_blacs();

}  // namespace nagaya::blacs
