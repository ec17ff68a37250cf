// SPDX-License-Identifier: BSD-3-Clause
// blacs.cc - the messages and collectives of a BLACS: a grid of one row. A BLACS sends once its
// data are copied, and has nothing that is prepared once.
#include <stdexcept>

#include "fmpl.h"

extern "C" {
void Cblacs_pinfo(int* rank, int* size);
void Cblacs_get(int context, int what, int* value);
void Cblacs_gridinit(int* context, const char* order, int rows, int columns);
void Cblacs_exit(int goes_on);
void Cblacs_barrier(int context, const char* scope);
void Cigesd2d(int context, int m, int n, int* a, int lda, int row, int column);
void Cigerv2d(int context, int m, int n, int* a, int lda, int row, int column);
void Cigebs2d(int context, const char* scope, const char* top, int m, int n, int* a, int lda);
void Cigebr2d(int context, const char* scope, const char* top, int m, int n, int* a, int lda,
              int row, int column);
void Cdgsum2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda,
              int row, int column);
void Cdgamx2d(int context, const char* scope, const char* top, int m, int n, double* a, int lda,
              int* rows, int* columns, int ldia, int row, int column);
}

namespace nagaya::bench::fmpl {
namespace {

constexpr int kEverybody = -1;
int own_rank, processes, context;

int integers_of(size_t bytes) {
  return static_cast<int>(bytes / sizeof(int));
}
int* integers_at(const void* data) {
  return static_cast<int*>(const_cast<void*>(data));
}
[[noreturn]] void fail() {
  throw std::runtime_error("a BLACS has no such function");
}

}  // namespace

void begin() {
  Cblacs_pinfo(&own_rank, &processes);
  Cblacs_get(0, 0, &context);
  Cblacs_gridinit(&context, "r", 1, processes);
}
void end() {
  Cblacs_exit(0);
}
int rank() {
  return own_rank;
}
int size() {
  return processes;
}
void send(const void* data, size_t bytes, int to) {
  const int count = integers_of(bytes);
  Cigesd2d(context, count, 1, integers_at(data), count, 0, to);
}
void receive(void* data, size_t bytes, int from) {
  const int count = integers_of(bytes);
  Cigerv2d(context, count, 1, integers_at(data), count, 0, from);
}
bool can_prepare() {
  return false;
}
void prepare(void*, size_t, int) {
  fail();
}
void send_prepared() {
  fail();
}
void receive_prepared() {
  fail();
}
void release_prepared() {
  fail();
}
void buffer_sends(size_t) {
  fail();
}
void forbid_special_support() {}
void barrier() {
  Cblacs_barrier(context, "All");
}
void bcast(void* data, size_t bytes, int root) {
  const int count = integers_of(bytes);
  if (root == own_rank)
    Cigebs2d(context, "All", " ", count, 1, integers_at(data), count);
  else
    Cigebr2d(context, "All", " ", count, 1, integers_at(data), count, 0, root);
}
void sum(double* data, int count, int root) {
  Cdgsum2d(context, "All", " ", count, 1, data, count, 0, root);
}
double greatest(double value) {
  Cdgamx2d(context, "All", " ", 1, 1, &value, 1, nullptr, nullptr, -1, kEverybody, kEverybody);
  return value;
}

}  // namespace nagaya::bench::fmpl
