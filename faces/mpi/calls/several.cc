// SPDX-License-Identifier: BSD-3-Clause
// several.cc - Wait and Test of several requests. An array may hold requests of ours and of the MPI
// beneath:
//
//   all of theirs   the MPI's function
//   all of ours     one pass that keeps its place, and nothing is allocated
//   both            ours as before; theirs are tested beneath (others.h), in each poll
#include <atomic>

#include "beneath/foreign_call.h"
#include "calls/calls.h"
#include "calls/others.h"
#include "calls/results.h"
#include "objects/waiting.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

struct Owners {
  bool are_ours = false, are_others = false;  // some
};

Owners owners_of(int count, const MPI_Request* handles) {
  Owners owners;
  for (int n = 0; n < count && !(owners.are_ours && owners.are_others); ++n) {
    if (Requests::find(handles[n]) != nullptr)
      owners.are_ours = true;
    else if (handles[n] != MPI_REQUEST_NULL)
      owners.are_others = true;
  }
  return owners;
}

// Waits until poll() is true. If arrived messages wait for memory, the receives end with that
// error.
template <class Poll>
void wait_for(const Others& others, int count, MPI_Request* handles, Poll poll) {
  if (poll()) return;
  if ((others.is_empty() ? wait_until(poll) : wait_and_poll(poll)) == MPI_SUCCESS) return;
  for (int n = 0; n < count; ++n)
    if (Request* const request = Requests::find(handles[n])) fail_receive(*request);
  wait_without_memory(poll);
}

// Polls, and once more after progress.
template <class Poll>
bool test_for(Poll poll) {
  if (poll()) return true;
  ::nagaya_match_progress();
  return poll();
}

// ---- all -----------------------------------------------------------------------------------

class All {
 public:
  All(const Owners& owners, int count, MPI_Request* handles)
      : count_(count), handles_(handles), others_(owners.are_others, count, handles) {}

  const Others& others() const { return others_; }

  // Whether all are over. Requests of the MPI beneath end one by one, as they are complete.
  bool poll() {
    others_.test_some();
    return are_ours_over() && !others_.are_active();
  }
  // Whether all are over. If so, requests of the MPI beneath have ended, else nothing has changed.
  bool poll_together() {
    if (are_ours_over()) return others_.test_all();
    others_.advance();
    return false;
  }

  // Ends all, after a poll was true.
  int finish(MPI_Status* statuses) {
    if (others_.has_failed_whole()) return others_.error();
    Results results(count_, statuses);
    for (int k = 0; k < others_.ended(); ++k) results.store(others_.place(k), others_, k);
    for (int n = 0; n < count_; ++n) {
      if (Request* const request = Requests::find(handles_[n]))
        results.end(n, request, handles_[n]);
      else if (!others_.has_ended(n))
        set_empty_status(results.status(n));
    }
    return results.raise();
  }

 private:
  bool are_ours_over() {
    for (; next_ < count_; ++next_) {
      Request* const request = Requests::find(handles_[next_]);
      if (request != nullptr && !is_over(*request)) return false;
    }
    return true;
  }

  const int count_;
  MPI_Request* const handles_;
  Others others_;
  int next_ = 0;  // ours before it are over
};

int waitall(int count, MPI_Request* handles, MPI_Status* statuses) {
  const Owners owners = owners_of(count, handles);
  if (!owners.are_ours) return call_beneath(beneath.Waitall, count, handles, statuses);
  All all(owners, count, handles);
  wait_for(all.others(), count, handles, [&all] { return all.poll(); });
  return all.finish(statuses);
}

int testall(int count, MPI_Request* handles, int* flag, MPI_Status* statuses) {
  const Owners owners = owners_of(count, handles);
  if (!owners.are_ours) return poll_beneath(beneath.Testall, count, handles, flag, statuses);
  All all(owners, count, handles);
  *flag = test_for([&all] { return all.poll_together(); });
  return *flag ? all.finish(statuses) : MPI_SUCCESS;
}

// ---- any -----------------------------------------------------------------------------------

class Any {
 public:
  Any(const Owners& owners, int count, MPI_Request* handles)
      : count_(count), handles_(handles), others_(owners.are_others, count, handles) {}

  const Others& others() const { return others_; }

  // Whether one is complete, or none is active. A complete one of the MPI beneath has ended. The
  // requests of the MPI beneath are tested first every second time, so neither kind waits for ever.
  bool poll() {
    static std::atomic<unsigned> turn = 0;
    const bool others_first =
        !others_.is_empty() && turn.fetch_add(1, std::memory_order_relaxed) % 2 != 0;
    if (others_first && others_.test_any()) return true;
    find_ours();
    if (found_ >= 0) return true;
    if (!others_first && others_.test_any()) return true;
    return !is_active_ && !others_.are_active();
  }

  // Ends the one that poll() has found.
  int finish(int* index, MPI_Status* status) {
    if (others_.ended() != 0 || others_.error() != MPI_SUCCESS) return finish_other(index, status);
    if (found_ >= 0) {
      *index = found_;
      return finish_and_raise(Requests::find(handles_[found_]), handles_[found_], status);
    }
    *index = MPI_UNDEFINED;
    set_empty_status(status);
    return MPI_SUCCESS;
  }

 private:
  void find_ours() {
    is_active_ = false;
    for (int n = 0; n < count_; ++n) {
      Request* const request = Requests::find(handles_[n]);
      if (request == nullptr || !request->is_active) continue;
      is_active_ = true;
      if (!request->is_complete()) continue;
      found_ = n;
      return;
    }
  }

  int finish_other(int* index, MPI_Status* status) const {
    *index = others_.ended() != 0 ? others_.place(0) : MPI_UNDEFINED;
    if (others_.ended() == 0 || status == MPI_STATUS_IGNORE) return others_.error();
    const int kept = status->MPI_ERROR;
    *status = others_.status(0);
    status->MPI_ERROR = kept;
    return others_.error();
  }

  const int count_;
  MPI_Request* const handles_;
  Others others_;
  int found_ = -1;          // complete, of ours
  bool is_active_ = false;  // one of ours
};

int waitany(int count, MPI_Request* handles, int* index, MPI_Status* status) {
  const Owners owners = owners_of(count, handles);
  if (!owners.are_ours) return call_beneath(beneath.Waitany, count, handles, index, status);
  Any any(owners, count, handles);
  wait_for(any.others(), count, handles, [&any] { return any.poll(); });
  return any.finish(index, status);
}

int testany(int count, MPI_Request* handles, int* index, int* flag, MPI_Status* status) {
  const Owners owners = owners_of(count, handles);
  if (!owners.are_ours) return poll_beneath(beneath.Testany, count, handles, index, flag, status);
  Any any(owners, count, handles);
  *flag = test_for([&any] { return any.poll(); });
  if (*flag) return any.finish(index, status);
  *index = MPI_UNDEFINED;
  return MPI_SUCCESS;
}

// ---- some ----------------------------------------------------------------------------------

class Some {
 public:
  // `indices`: where poll() stores the numbers of those that are complete.
  Some(const Owners& owners, int count, MPI_Request* handles, int* indices)
      : count_(count),
        handles_(handles),
        indices_(indices),
        others_(owners.are_others, count, handles) {}

  const Others& others() const { return others_; }

  // Whether some are complete, or none is active. Complete ones of the MPI beneath have ended.
  bool poll() {
    found_ = 0;
    is_active_ = false;
    for (int n = 0; n < count_; ++n) {
      Request* const request = Requests::find(handles_[n]);
      if (request == nullptr || !request->is_active) continue;
      is_active_ = true;
      if (request->is_complete()) indices_[found_++] = n;
    }
    const bool have_others_ended = others_.test_some();
    return found_ != 0 || have_others_ended || !(is_active_ || others_.are_active());
  }

  // Ends those that poll() has found, which may be none.
  int finish(int* done, MPI_Status* statuses) {
    const int ended = found_ + others_.ended();
    *done = is_active_ || others_.are_active() ? ended : MPI_UNDEFINED;
    Results results(ended, statuses);
    for (int n = 0; n < found_; ++n) {
      MPI_Request& handle = handles_[indices_[n]];
      results.end(n, Requests::find(handle), handle);
    }
    for (int k = 0; k < others_.ended(); ++k) {
      indices_[found_ + k] = others_.place(k);
      results.store(found_ + k, others_, k);
    }
    return others_.has_failed_whole() ? others_.error() : results.raise();
  }

 private:
  const int count_;
  MPI_Request* const handles_;
  int* const indices_;
  Others others_;
  int found_ = 0;           // complete, of ours
  bool is_active_ = false;  // one of ours
};

int waitsome(int count, MPI_Request* handles, int* done, int* indices, MPI_Status* statuses) {
  const Owners owners = owners_of(count, handles);
  if (!owners.are_ours)
    return call_beneath(beneath.Waitsome, count, handles, done, indices, statuses);
  Some some(owners, count, handles, indices);
  wait_for(some.others(), count, handles, [&some] { return some.poll(); });
  return some.finish(done, statuses);
}

int testsome(int count, MPI_Request* handles, int* done, int* indices, MPI_Status* statuses) {
  const Owners owners = owners_of(count, handles);
  if (!owners.are_ours)
    return poll_beneath(beneath.Testsome, count, handles, done, indices, statuses);
  Some some(owners, count, handles, indices);
  test_for([&some] { return some.poll(); });
  return some.finish(done, statuses);
}

}  // namespace

void add_completion_of_several(Functions& ours) {
  ours.Waitall = waitall;
  ours.Waitany = waitany;
  ours.Waitsome = waitsome;
  ours.Testall = testall;
  ours.Testany = testany;
  ours.Testsome = testsome;
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
