// SPDX-License-Identifier: BSD-3-Clause
// pmi1.h - the meeting place of launchers that speak PMI-1 (hydra, which is MPICH's mpiexec): lines
// of text on the descriptor PMI_FD, a question and its answer at a time.
//
//   cmd=put kvsname=NAME key=KEY value=VALUE  ──►  cmd=put_result rc=0 msg=success
//
// A value has up to some 1,000 characters other than blanks: a longer one is published in pieces,
// in hexadecimal digits, with its length in the first eight.
//
// An MPICH in the same process uses the same descriptor. Between its calls the descriptor is idle,
// and questions need no session of their own: so if MPI has been started, MPI opens and closes the
// session, else this meeting does.
// After: MPICH's manual of the wire protocol, "PMI v1", version 1.1.
#pragma once

#include "bootstrap/meeting.h"

namespace nagaya::bootstrap {

class Pmi1Meeting : public Meeting {
 public:
  // `descriptor` stays the caller's. Throws base::Error.
  Pmi1Meeting(int descriptor, uint32_t rank);
  ~Pmi1Meeting() override;

  void publish(const std::string& key, const std::string& bytes) override;
  void fence() override;
  std::string read(uint32_t rank, const std::string& key) override;

 private:
  std::string ask(const std::string& question, const char* expected_answer);
  std::string answer();
  std::string name_of(uint32_t rank, const std::string& key, size_t piece) const;

  int descriptor_;
  uint32_t rank_;
  bool session_is_own_;
  size_t piece_length_ = 0;
  std::string kvs_;  // the name of the job's values
};

}  // namespace nagaya::bootstrap
