// SPDX-License-Identifier: BSD-3-Clause
#include <vector>

#include "fmpl.h"
#include "status.h"

namespace nagaya::bench::fmpl {
namespace {

constexpr int kIndexes = 2;
fmpl_area areas[kIndexes];
fmpl_flag flags[kIndexes];
std::vector<double> work;
std::vector<char> spool;
fmpl_request prepared_send, prepared_receive;

}  // namespace

void begin() {
  check(fmpl_init(areas, flags, kIndexes));
}
void end() {
  fmpl_finalize();
}
int rank() {
  return fmpl_rank(FMPL_COMM_WORLD);
}
int size() {
  return fmpl_size(FMPL_COMM_WORLD);
}
void send(const void* data, size_t bytes, int to) {
  check(fmpl_send(data, bytes, to, 0));
}
void receive(void* data, size_t bytes, int from) {
  check(fmpl_recv(data, bytes, from, 0));
}
bool can_prepare() {
  return true;
}
void prepare(void* data, size_t bytes, int peer) {
  check(fmpl_isend_prepare(data, bytes, peer, 1, &prepared_send));
  check(fmpl_irecv_prepare(data, bytes, peer, 1, &prepared_receive));
}
void send_prepared() {
  check(fmpl_isend_start(&prepared_send));
  check(fmpl_wait_isend(&prepared_send));
}
void receive_prepared() {
  check(fmpl_irecv_start(&prepared_receive));
  check(fmpl_wait_irecv(&prepared_receive));
}
void release_prepared() {
  check(fmpl_irecv_release(&prepared_receive));
}
// The buffer has room for two messages: the last one may still be in it.
void buffer_sends(size_t bytes) {
  spool.resize(2 * bytes);
  check(fmpl_sendbuff_set(spool.data(), spool.size(), 0));
}
void forbid_special_support() {
  check(fmpl_support_set(FMPL_COMM_WORLD, 0));
}
void barrier() {
  check(fmpl_barrier(FMPL_COMM_WORLD));
}
void bcast(void* data, size_t bytes, int root) {
  check(fmpl_bcast(data, bytes, root, FMPL_COMM_WORLD));
}
void sum(double* data, int count, int root) {
  work.resize(static_cast<size_t>(count));
  check(fmpl_reduce(data, count, fmpl_dsum, root, FMPL_COMM_WORLD, work.data()));
}
double greatest(double value) {
  check(fmpl_allreduce(&value, 1, fmpl_dmax, FMPL_COMM_WORLD, &value));
  return value;
}

}  // namespace nagaya::bench::fmpl
