// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/files/queue.h"

#include <errno.h>
#include <fcntl.h>

#include <algorithm>
#include <tuple>
#include <utility>

namespace nagaya::files {
namespace {

constexpr int kModeFlags = O_ACCMODE | O_DIRECT | O_SYNC;

bool is_one_file(const OpenFile& left, const OpenFile& right) {
  return left.device == right.device && left.inode == right.inode && left.flags == right.flags;
}

}  // namespace

Queue::Queue(Engine& engine, Complete complete)
    : engine_(engine),
      complete_(std::move(complete)),
      requests_(kRequestsMax),
      jobs_(Engine::kTransfersMax) {
  for (Request& request : requests_) free_requests_.push_back(&request);
  for (Job& job : jobs_) free_jobs_.push_back(&job);
  unfinished_.reserve(kRequestsMax);
  waiting_.reserve(kRequestsMax);
}

// ---- handles ------------------------------------------------------------------------------------

void Queue::open(Handles& handle, OpenFiles& file) {
  OpenFile& fresh = file.front();
  struct stat status {};
  if (::fstat(fresh.fd.get(), &status) == 0) {
    fresh.device = status.st_dev;
    fresh.inode = status.st_ino;
    fresh.flags = ::fcntl(fresh.fd.get(), F_GETFL) & kModeFlags;
  }
  auto known = std::find_if(files_.begin(), files_.end(),
                            [&](const OpenFile& one) { return is_one_file(one, fresh); });
  if (known == files_.end()) {
    files_.splice(files_.begin(), file);
    known = files_.begin();
  }
  ++known->handles;
  handle.begin()->second.file = &*known;
  handles_.merge(handle);
}

void Queue::close(Handles::iterator handle) {
  OpenFile* const file = handle->second.file;
  handles_.erase(handle);
  if (--file->handles == 0) files_.remove_if([&](const OpenFile& one) { return &one == file; });
}

void Queue::abandon(mailbox::Owner dead) {
  for (size_t n = waiting_.size(); n-- > 0;)
    if (waiting_[n]->handle->second.owner == dead) {
      drop(*waiting_[n]);
      waiting_.erase(waiting_.begin() + static_cast<ptrdiff_t>(n));
    }
  for (auto handle = handles_.begin(); handle != handles_.end();) {
    const auto next = std::next(handle);
    if (handle->second.owner == dead) {
      handle->second.is_abandoned = true;
      if (handle->second.unfinished == 0) close(handle);
    }
    handle = next;
  }
}

bool Queue::is_used_by(mailbox::Owner owner) const {
  return std::any_of(handles_.begin(), handles_.end(),
                     [&](const auto& entry) { return entry.second.owner == owner; });
}

// ---- requests -----------------------------------------------------------------------------------

void Queue::accept(const Command& command, mailbox::Owner owner) {
  const auto handle = handles_.find(command.file);
  if (handle == handles_.end() || handle->second.owner != owner)
    return complete_(owner, command, -EBADF, 0);
  const bool is_empty = command.bytes == 0 && (command.op == Op::kRead || command.op == Op::kWrite);
  if (is_empty) return complete_(owner, command, 0, 0);
  Request& request = *free_requests_.back();
  free_requests_.pop_back();
  request = {command, handle, ++accepted_, 0, unfinished_.size()};
  ++handle->second.unfinished;
  unfinished_.push_back(&request);
  wait_again(request);
}

void Queue::wait_again(Request& request) {
  waiting_.push_back(&request);
  is_sorted_ = false;
}

// Completes a request.
void Queue::end(Request& request, int error) {
  if (!request.handle->second.is_abandoned)
    complete_(request.handle->second.owner, request.command, error, request.moved);
  drop(request);
}

// Forgets a request. Its task may have ended, and then its handle is closed after its last one.
void Queue::drop(Request& request) {
  const auto handle = request.handle;
  unfinished_.back()->place = request.place;
  std::swap(unfinished_[request.place], unfinished_.back());
  unfinished_.pop_back();
  free_requests_.push_back(&request);
  if (--handle->second.unfinished == 0 && handle->second.is_abandoned) close(handle);
}

void Queue::sort_waiting() {
  if (is_sorted_) return;
  const auto key = [](const Request* request) {
    return std::tuple(&request->file(), request->command.op, request->position(), request->number);
  };
  std::sort(waiting_.begin(), waiting_.end(),
            [&](const Request* left, const Request* right) { return key(left) < key(right); });
  is_sorted_ = true;
}

// Returns whether a request may begin now.
bool Queue::is_ready(const Request& request) const {
  const Op op = request.command.op;
  if (op == Op::kRead || op == Op::kWrite) return request.file().transfers < kTransfersPerFile;
  if (op == Op::kSync && request.file().is_syncing) return false;
  return std::none_of(unfinished_.begin(), unfinished_.end(), [&](const Request* other) {
    return other->handle == request.handle && other->number < request.number;
  });
}

// Returns the oldest request that may begin now, so that none waits for ever behind others.
Queue::Waiting::iterator Queue::oldest_ready() {
  auto oldest = waiting_.end();
  for (auto one = waiting_.begin(); one != waiting_.end(); ++one)
    if ((oldest == waiting_.end() || (*one)->number < (*oldest)->number) && is_ready(**one))
      oldest = one;
  return oldest;
}

bool Queue::start_one() {
  if (free_jobs_.empty()) return false;
  sort_waiting();
  const auto oldest = oldest_ready();
  if (oldest == waiting_.end()) return false;
  Request& request = **oldest;
  if (request.command.op == Op::kSync) {
    start_syncs(oldest);
  } else if (request.command.op == Op::kClose) {
    waiting_.erase(oldest);
    const auto handle = request.handle;
    const mailbox::Owner owner = handle->second.owner;
    const Command command = request.command;
    drop(request);
    close(handle);
    complete_(owner, command, 0, 0);
  } else {
    start_run(first_of_run(oldest));
  }
  return true;
}

// Goes back over requests without a gap, as far as they fit into one transfer with this one.
Queue::Waiting::iterator Queue::first_of_run(Waiting::iterator request) const {
  uint64_t bytes = (*request)->left();
  auto first = request;
  while (first != waiting_.begin() && (*first)->follows(**std::prev(first)) &&
         request - first + 1 < static_cast<ptrdiff_t>(Transfer::kPiecesMax)) {
    bytes += (*std::prev(first))->left();
    if (bytes > Transfer::kBytesMax) break;
    --first;
  }
  return first;
}

// Starts one transfer for the request and those that follow without a gap.
void Queue::start_run(Waiting::iterator first) {
  Job& job = *free_jobs_.back();
  job.requests_count = 0;
  uint64_t bytes = 0;
  auto last = first;
  do {
    Request& request = **last;
    const uint64_t length = std::min(request.left(), Transfer::kBytesMax - bytes);
    job.pieces[job.requests_count] = {request.command.data + request.moved, length};
    job.requests[job.requests_count++] = &request;
    bytes += length;
    ++last;
  } while (last != waiting_.end() && job.requests_count < Transfer::kPiecesMax &&
           bytes < Transfer::kBytesMax && (*last)->follows(**std::prev(last)));
  job.count = job.requests_count;
  job.offset = (*first)->position();
  waiting_.erase(first, last);
  ++job.requests[0]->file().transfers;
  start(job, job.requests[0]->command.op);
}

void Queue::start_syncs(Waiting::iterator first) {
  Job& job = *free_jobs_.back();
  OpenFile& file = (*first)->file();
  job.requests_count = 0;
  const auto takes = [&](Request* request) {
    const bool is_taken = request->command.op == Op::kSync && &request->file() == &file &&
                          job.requests_count < Transfer::kPiecesMax && is_ready(*request);
    if (is_taken) job.requests[job.requests_count++] = request;
    return is_taken;
  };
  waiting_.erase(std::remove_if(first, waiting_.end(), takes), waiting_.end());
  file.is_syncing = true;
  job.count = 0;
  start(job, Op::kSync);
}

void Queue::start(Job& job, Op op) {
  free_jobs_.pop_back();
  job.file = &job.requests[0]->file();
  job.op = op;
  job.fd = job.file->fd.get();
  engine_.start(job);
}

bool Queue::finish_one() {
  Transfer* const transfer = engine_.finished();
  if (transfer == nullptr) return false;
  Job& job = *static_cast<Job*>(transfer);
  free_jobs_.push_back(&job);
  if (transfer->op == Op::kSync)
    finish_syncs(job);
  else
    finish_run(job);
  return true;
}

void Queue::finish_syncs(Job& job) {
  OpenFile& file = *job.file;
  file.is_syncing = false;
  const bool is_interrupted = job.result == -EINTR;
  if (job.result < 0 && !is_interrupted && file.sync_error == 0)
    file.sync_error = static_cast<int>(job.result);
  const int error = file.sync_error;
  for (uint32_t n = 0; n < job.requests_count; ++n)
    if (is_interrupted)
      wait_again(*job.requests[n]);
    else
      end(*job.requests[n], error);
}

// The kernel has moved `result` bytes of the run, or has failed at its first byte.
void Queue::finish_run(Job& job) {
  --job.file->transfers;
  const int64_t result = job.result;
  const bool is_interrupted = result == -EINTR;
  uint64_t left = result > 0 ? static_cast<uint64_t>(result) : 0;
  for (uint32_t n = 0; n < job.requests_count; ++n) {
    Request& request = *job.requests[n];
    const uint64_t moved = std::min<uint64_t>(left, job.pieces[n].iov_len);
    request.moved += moved;
    left -= moved;
    if (request.moved == request.command.bytes)
      end(request, 0);
    else if (n == 0 && result < 0 && !is_interrupted)
      end(request, static_cast<int>(result));
    else if (n == 0 && result == 0)  // the end of the file
      end(request, request.command.op == Op::kRead ? 0 : -EIO);
    else if (request.handle->second.is_abandoned)
      drop(request);
    else
      wait_again(request);
  }
}

}  // namespace nagaya::files
