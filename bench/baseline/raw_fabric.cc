// SPDX-License-Identifier: BSD-3-Clause
#include "baseline/raw_fabric.h"

#include <poll.h>
#include <rdma/fi_rma.h>

#include "base/error.h"

namespace nagaya::bench {
namespace {

constexpr size_t kCompletionsMax = 4096 + 64;  // those of 16 threads, and of the receives
// The longest sleep: some providers advance only when they are polled.
constexpr int kSleepMaxMs = 10;

void* descriptor_of(const fabric::Owned<fid_mr>& memory) {
  return memory == nullptr ? nullptr : ::fi_mr_desc(memory.get());
}

fi_threading threading_of(Sharing sharing) {
  return sharing == Sharing::kThreadSafe ? FI_THREAD_SAFE : FI_THREAD_DOMAIN;
}

}  // namespace

RawFabric::RawFabric(Sharing sharing)
    : sharing_(sharing),
      opened_(fabric::open_endpoint("", kCompletionsMax, threading_of(sharing))) {
  for (size_t n = 0; n < kReceives; ++n) {
    Operation& receive = receives_[n];
    receive_memory_[n] = registered_local(&receive.message, sizeof(Message), FI_RECV);
    receive.descriptor = descriptor_of(receive_memory_[n]);
    post_receive(receive);
  }
}

std::unique_lock<std::mutex> RawFabric::lock() {
  return sharing_ == Sharing::kMutex ? std::unique_lock(mutex_)
                                     : std::unique_lock(mutex_, std::defer_lock);
}

// ---- addresses and memory ----------------------------------------------------------------------

std::string RawFabric::address() const {
  std::string name(256, '\0');
  size_t bytes = name.size();
  fabric::check(::fi_getname(&opened_.endpoint->fid, name.data(), &bytes), "fi_getname");
  name.resize(bytes);
  return name;
}

void RawFabric::connect(const std::string& peer, const fabric::Region& its_memory) {
  if (::fi_av_insert(opened_.addresses.get(), peer.data(), 1, &peer_, 0, nullptr) != 1)
    throw base::Error(-EINVAL, "fi_av_insert failed");
  peer_memory_ = its_memory;
}

fabric::Region RawFabric::expose(void* base, size_t bytes) {
  exposed_.push_back(registered(base, bytes, FI_REMOTE_READ));
  return {wants(FI_MR_VIRT_ADDR) ? reinterpret_cast<uint64_t>(base) : 0, bytes,
          ::fi_mr_key(exposed_.back().get())};
}

fabric::Owned<fid_mr> RawFabric::registered(void* base, size_t bytes, uint64_t access) {
  static std::atomic<uint64_t> next_key{1};
  fid_mr* memory = nullptr;
  fabric::check(::fi_mr_reg(opened_.domain.get(), base, bytes, access, 0,
                            next_key.fetch_add(1, std::memory_order_relaxed), 0, &memory, nullptr),
                "fi_mr_reg");
  fabric::Owned<fid_mr> owned(memory);
  if (wants(FI_MR_ENDPOINT)) {
    fabric::check(::fi_mr_bind(memory, &opened_.endpoint->fid, 0), "fi_mr_bind");
    fabric::check(::fi_mr_enable(memory), "fi_mr_enable");
  }
  return owned;
}

fabric::Owned<fid_mr> RawFabric::registered_local(void* base, size_t bytes, uint64_t access) {
  return wants(FI_MR_LOCAL) ? registered(base, bytes, access) : nullptr;
}

// ---- completions -------------------------------------------------------------------------------

bool RawFabric::progress() {
  fi_cq_msg_entry found[32];
  ssize_t count;
  {
    const auto guard = lock();
    count = ::fi_cq_read(opened_.completions.get(), found, std::size(found));
  }
  if (count == -FI_EAGAIN) return false;
  if (count < 0) throw base::Error(static_cast<int>(count), "libfabric: a request has failed");
  for (ssize_t n = 0; n < count; ++n) {
    auto& operation = *static_cast<Operation*>(found[n].op_context);
    if (operation.thread != nullptr)
      operation.thread->complete(operation);
    else
      inbox_.push_back(&operation);
  }
  return true;
}

void RawFabric::pause(Pause how) {
  if (how == Pause::kSpin) return mailbox::Machine::relax();
  if (how == Pause::kYield) return mailbox::Machine::yield();
  {
    const auto guard = lock();
    if (!opened_.may_sleep()) return;
  }
  pollfd descriptor{opened_.wait_fd, POLLIN, 0};
  ::poll(&descriptor, 1, kSleepMaxMs);
}

void RawFabric::prepare(Pause pause, uint32_t threads, uint32_t processors) {
  pause_ = pause;
  load_.runnable.store(threads, std::memory_order_relaxed);
  load_.processors = processors;
}

template <class Work>
bool RawFabric::try_lead(Work work) {
  if (is_led_.exchange(true, std::memory_order_seq_cst)) return false;
  struct Leading {
    RawFabric& fabric;
    ~Leading() {  // also when a request has failed: the others must not wait for ever
      fabric.is_led_.store(false, std::memory_order_seq_cst);
      fabric.call_a_leader();
    }
  } leading{*this};
  work();
  return true;
}

void RawFabric::call_a_leader() {
  for (Thread* thread : threads_)
    if (thread->is_waiting_.load(std::memory_order_seq_cst)) return thread->bell_.ring();
}

// ---- messages ----------------------------------------------------------------------------------

void RawFabric::post_receive(Operation& operation) {
  ssize_t result;
  while ((result = ::fi_recv(opened_.endpoint.get(), &operation.message, sizeof(Message),
                             operation.descriptor, FI_ADDR_UNSPEC, &operation.context)) ==
         -FI_EAGAIN)
    progress();
  fabric::check(result, "fi_recv");
}

RawFabric::Message RawFabric::received(Pause how) {
  while (inbox_.empty())
    if (!progress()) pause(how);
  Operation& operation = *inbox_.front();
  inbox_.pop_front();
  const Message message = operation.message;
  post_receive(operation);
  return message;
}

void RawFabric::send(const Message& message) {
  ssize_t result;
  while ((result = ::fi_inject(opened_.endpoint.get(), &message, sizeof message, peer_)) ==
         -FI_EAGAIN)
    progress();
  fabric::check(result, "fi_inject");
}

void RawFabric::serve(std::atomic<uint64_t>& word, Pause how) {
  for (;;) {
    const Message request = received(how);
    if (request.kind != Message::kAdd) return;
    // Seq_cst, as in the delegatee: it is the strongest order that a peer may ask for.
    send({Message::kAnswer, word.fetch_add(request.value, std::memory_order_seq_cst)});
  }
}

uint64_t RawFabric::fetch_add(uint64_t operand) {
  send({Message::kAdd, operand});
  return received(pause_).value;
}

// ---- a thread ----------------------------------------------------------------------------------

RawFabric::Thread::Thread(RawFabric& fabric, void* local, size_t bytes)
    : fabric_(fabric),
      local_memory_(fabric.registered_local(local, bytes, FI_READ)),
      operations_(kOperations) {
  for (Operation& operation : operations_) operation.thread = this;
  fabric_.threads_.push_back(this);
}

RawFabric::Thread::~Thread() {
  std::erase(fabric_.threads_, this);
}

bool RawFabric::Thread::try_read(void* to, size_t bytes, uint64_t offset) {
  Operation& operation = operations_[next_ % kOperations];
  if (operation.is_pending.load(std::memory_order_acquire)) return false;  // pairs with complete
  operation.is_pending.store(true, std::memory_order_relaxed);
  ssize_t result;
  {
    const auto guard = fabric_.lock();
    result = ::fi_read(fabric_.opened_.endpoint.get(), to, bytes, descriptor_of(local_memory_),
                       fabric_.peer_, fabric_.peer_memory_.base + offset, fabric_.peer_memory_.key,
                       &operation.context);
  }
  if (result == 0) {
    ++next_;
    return true;
  }
  operation.is_pending.store(false, std::memory_order_relaxed);
  if (result != -FI_EAGAIN) fabric::check(result, "fi_read");
  // There is no connection yet, or no room left by other threads: only polling changes that.
  fabric_.try_lead([&] { fabric_.progress(); });
  return false;
}

void RawFabric::Thread::wait(uint64_t least) {
  const auto is_done = [&] { return completed() >= least; };
  is_waiting_.store(true, std::memory_order_seq_cst);
  const auto lead = [&] {
    while (!is_done())
      if (!fabric_.progress()) fabric_.pause(fabric_.pause_);
  };
  while (!is_done())
    if (!fabric_.try_lead(lead))
      mailbox::Waiting(bell_, fabric_.load_).until([&] {
        return is_done() || !fabric_.is_led_.load(std::memory_order_seq_cst);
      });
  is_waiting_.store(false, std::memory_order_seq_cst);
  if (!fabric_.is_led_.load(std::memory_order_seq_cst)) fabric_.call_a_leader();
}

void RawFabric::Thread::complete(Operation& operation) {
  operation.is_pending.store(false, std::memory_order_release);  // pairs with try_read
  completed_.fetch_add(1, std::memory_order_release);            // pairs with completed()
  bell_.ring();
}

}  // namespace nagaya::bench
