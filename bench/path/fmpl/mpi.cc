// SPDX-License-Identifier: BSD-3-Clause
#include <mpi.h>

#include <vector>

#include "fmpl.h"

namespace nagaya::bench::fmpl {
namespace {

MPI_Request prepared_send, prepared_receive;
std::vector<char> buffer;  // empty: sends are not buffered

}  // namespace

void begin() {
  MPI_Init(nullptr, nullptr);
}
void end() {
  MPI_Finalize();
}
int rank() {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int size() {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
void send(const void* data, size_t bytes, int to) {
  (buffer.empty() ? MPI_Send : MPI_Bsend)(data, static_cast<int>(bytes), MPI_BYTE, to, 0,
                                          MPI_COMM_WORLD);
}
void receive(void* data, size_t bytes, int from) {
  MPI_Recv(data, static_cast<int>(bytes), MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
bool can_prepare() {
  return true;
}
void prepare(void* data, size_t bytes, int peer) {
  const int count = static_cast<int>(bytes);
  MPI_Send_init(data, count, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &prepared_send);
  MPI_Recv_init(data, count, MPI_BYTE, peer, 1, MPI_COMM_WORLD, &prepared_receive);
}
void send_prepared() {
  MPI_Start(&prepared_send);
  MPI_Wait(&prepared_send, MPI_STATUS_IGNORE);
}
void receive_prepared() {
  MPI_Start(&prepared_receive);
  MPI_Wait(&prepared_receive, MPI_STATUS_IGNORE);
}
void release_prepared() {
  MPI_Request_free(&prepared_send);
  MPI_Request_free(&prepared_receive);
}
// The buffer has room for two messages: the last one may still be in it.
void buffer_sends(size_t bytes) {
  buffer.resize(2 * (bytes + MPI_BSEND_OVERHEAD));
  MPI_Buffer_attach(buffer.data(), static_cast<int>(buffer.size()));
}
void forbid_special_support() {}
void barrier() {
  MPI_Barrier(MPI_COMM_WORLD);
}
void bcast(void* data, size_t bytes, int root) {
  MPI_Bcast(data, static_cast<int>(bytes), MPI_BYTE, root, MPI_COMM_WORLD);
}
void sum(double* data, int count, int root) {
  if (rank() == root)
    MPI_Reduce(MPI_IN_PLACE, data, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
  else
    MPI_Reduce(data, nullptr, count, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
}
double greatest(double value) {
  double result;
  MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return result;
}

}  // namespace nagaya::bench::fmpl
