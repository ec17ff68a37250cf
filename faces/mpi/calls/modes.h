// SPDX-License-Identifier: BSD-3-Clause
// modes.h - the names of MPI's sends by their modes.
#pragma once

#include "beneath/functions.h"
#include "objects/requests.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

template <Mode>
struct Names;

template <>
struct Names<Mode::kStandard> {
  static constexpr auto send = &Functions::Send;
  static constexpr auto send_c = &Functions::Send_c;
  static constexpr auto isend = &Functions::Isend;
  static constexpr auto isend_c = &Functions::Isend_c;
  static constexpr auto init = &Functions::Send_init;
  static constexpr auto init_c = &Functions::Send_init_c;
};

template <>
struct Names<Mode::kBuffered> {
  static constexpr auto send = &Functions::Bsend;
  static constexpr auto send_c = &Functions::Bsend_c;
  static constexpr auto isend = &Functions::Ibsend;
  static constexpr auto isend_c = &Functions::Ibsend_c;
  static constexpr auto init = &Functions::Bsend_init;
  static constexpr auto init_c = &Functions::Bsend_init_c;
};

template <>
struct Names<Mode::kSynchronous> {
  static constexpr auto send = &Functions::Ssend;
  static constexpr auto send_c = &Functions::Ssend_c;
  static constexpr auto isend = &Functions::Issend;
  static constexpr auto isend_c = &Functions::Issend_c;
  static constexpr auto init = &Functions::Ssend_init;
  static constexpr auto init_c = &Functions::Ssend_init_c;
};

template <>
struct Names<Mode::kReady> {
  static constexpr auto send = &Functions::Rsend;
  static constexpr auto send_c = &Functions::Rsend_c;
  static constexpr auto isend = &Functions::Irsend;
  static constexpr auto isend_c = &Functions::Irsend_c;
  static constexpr auto init = &Functions::Rsend_init;
  static constexpr auto init_c = &Functions::Rsend_init_c;
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
