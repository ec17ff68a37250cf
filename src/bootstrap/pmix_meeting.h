// SPDX-License-Identifier: BSD-3-Clause
// pmix_meeting.h - the meeting place of launchers that speak PMIx: Open MPI's mpirun, Slurm.
#pragma once

#include <pmix.h>

#include "bootstrap/meeting.h"

namespace nagaya::bootstrap {

// libpmix, opened when it is needed: libnagaya depends on libc alone.
class Pmix {
 public:
  Pmix();  // throws base::Error -ENOTSUP

  void check(pmix_status_t status, const char* what) const;

  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Initialized) is_initialized;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Fence) fence;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Error_string) name_of;

 private:
  template <class Function>
  void find(Function& function, const char* name);

  void* library_;  // stays loaded: it has threads of its own
};

// PMIx counts its users: an MPI in the same process may come and go before or after. Open MPI 5
// must not learn of this user: its MPI_Init initialises PMIx only if nobody has, and without its
// own PMIx_Init does not learn which process it is.
class PmixMeeting : public Meeting {
 public:
  PmixMeeting();
  ~PmixMeeting() override;

  uint32_t rank() const { return self_.rank; }

  void publish(const std::string& key, const std::string& bytes) override;
  void fence() override;
  std::string read(uint32_t rank, const std::string& key) override;

 private:
  Pmix pmix_;
  pmix_proc_t self_{};
  bool is_hidden_ = false;
};

}  // namespace nagaya::bootstrap
