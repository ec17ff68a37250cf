// SPDX-License-Identifier: BSD-3-Clause
// requests.h - our requests and messages, and their handles.
//
// They lie in one range of addresses, so that an index finds one, and a handle tells whether it is
// ours.
//
//   a request        is_active      is_complete()
//   made (Isend)     yes            once its work has ended
//   made (Send_init) no, till Start yes
//   waited for       no: freed, unless it is persistent
//   freed earlier    an orphan: its work goes on, then it is freed (drain(), free_ended_orphans())
#pragma once

#include <nagaya/coll.h>
#include <nagaya/match.h>

#include <atomic>
#include <cstdint>

#include "objects/communicator.h"
#include "objects/type.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {

enum class RequestKind : uint8_t {
  kFree,      // in the list of free ones: its handle is nobody's
  kComplete,  // has no work: to or from MPI_PROC_NULL
  kSend,
  kReceive,
  kExchange,  // of MPI_Isendrecv: a send and a receive
  kMessage,   // of a matched probe: an MPI_Message
  kCollective,
  kOther,  // `part` does its work
};

// The kind of a send: by which function of MPI it was made.
enum class Mode : uint8_t { kStandard, kBuffered, kSynchronous, kReady };

// The work of a request that is neither a message nor one collective. Deleted with its request.
class RequestPart {
 public:
  virtual ~RequestPart() = default;
  // Starts the work of a persistent request. Returns an error class.
  virtual int start() = 0;
  // Advances it. Returns whether it has ended; `error` then is its error class.
  virtual bool is_over(int& error) = 0;
};

struct Request {
  // All of them the number for Fortran: the MPI beneath may read the first kHeadBytes.
  alignas(64) int32_t head[kHeadBytes / sizeof(int32_t) + 1];
  RequestKind kind;
  bool is_persistent, is_active, is_orphan;
  Mode mode;
  bool is_cancelled;           // a receive was; of a send, `send` tells
  int error;                   // class; of requests without a message
  Communicator* communicator;  // held
  const Type* type;            // held; nullptr: a basic one
  void* buffer;
  size_t count;
  int peer, tag;      // as the call named them
  nagaya_runs* runs;  // kRunsMax of them, or nullptr: owned
  void* packed;       // owned, or nullptr
  size_t unpacked;    // bytes that a receive has scattered so far
  RequestPart* part;  // owned
  // Of a buffered send and the pending send of its copy: the other one of the two (send_buffer.h).
  Request* partner;
  Request* next;  // in the list of free ones, or of orphans
  union {         // what it is for; make() clears no more of it than the kind needs
    nagaya_send send;
    nagaya_receive receive;
    struct {
      Request *send, *receive;  // owned; not active themselves
    } exchange;
    struct {
      nagaya_message* message;
      nagaya_message_description description;
    } probed;
    nagaya_collective collective;
  };

  bool is_complete();
};

class Requests {
 public:
  // Returns an empty request that holds the communicator (may be nullptr). nullptr: no memory.
  static Request* make(RequestKind kind, Communicator* communicator);
  static void free(Request* request);

  static MPI_Request handle_of(Request* request) {
    return own_handle<MPI_Request>(index_of(request), request);
  }
  static MPI_Message message_of(Request* request) {
    return own_handle<MPI_Message>(index_of(request), request);
  }
  static MPI_Fint fortran_of(const Request* request) {
    return kFirstOwnFortran + static_cast<MPI_Fint>(index_of(request));
  }
  // `handle`: an MPI_Request or MPI_Message. Returns nullptr if it is not ours.
  template <class Handle>
  static Request* find(Handle handle) {
    return at(index_of_own(handle, first_, sizeof(Request)));
  }
  static Request* find_by_fortran(MPI_Fint number) {
    return at(static_cast<uint32_t>(number) - static_cast<uint32_t>(kFirstOwnFortran));
  }

  // Called for a request that the program has freed before it was complete.
  static void abandon(Request* request);
  static void free_ended_orphans();
  // Waits for all orphans.
  static void drain();

 private:
  static Request* take_new();
  static Request* at(size_t index) {
    if (index >= made_.load(std::memory_order_acquire)) return nullptr;  // pairs with take_new
    return first_[index].kind != RequestKind::kFree ? first_ + index : nullptr;
  }
  static uint32_t index_of(const Request* request) {
    return static_cast<uint32_t>(request - first_);
  }

  inline static Request* first_ = nullptr;
  inline static std::atomic<size_t> made_ = 0;  // so many have been in use
};

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
