// SPDX-License-Identifier: BSD-3-Clause
// fortran.cc - the plain calls of Fortran: as those of C, with the status as last argument. The
// module (fmpl.f90) describes them.
#include "faces/fmpl/library.h"

using nagaya::fmpl::reduce;
using nagaya::fmpl::register_function;

namespace {

// Returns the status of `call`, a function for C; in Fortran a size may be negative.
template <class Call, class Buffer, class... Others>
int call_with_size(Call call, Buffer* buf, int size, Others... others) {
  return size < 0 ? FMPL_ERR_ARGUMENT : call(buf, static_cast<size_t>(size), others...);
}

// Returns the status of a call of fmpl_rank() or fmpl_size() that has returned `number`.
int status_of_number(int number) {
  if (number >= 0) return FMPL_SUCCESS;
  return nagaya::fmpl::library() == nullptr ? FMPL_ERR_INIT : FMPL_ERR_ARGUMENT;
}

using FortranFunction = void(const void* in, void* inout, const int* count);

void call_fortran_function(void* func, const void* in, void* inout, size_t count) {
  const auto n = static_cast<int>(count);
  (*reinterpret_cast<FortranFunction*>(func))(in, inout, &n);
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

void fmpl_init_(fmpl_area* ma, fmpl_flag* fa, const int* count, int* ier) {
  *ier = fmpl_init(ma, fa, *count);
}
void fmpl_finalize_(int* ier) {
  *ier = fmpl_finalize();
}

void fmpl_send_(const void* buf, const int* size, const int* dst, const int* mai, int* ier) {
  *ier = call_with_size(fmpl_send, buf, *size, *dst, *mai);
}
void fmpl_recv_(void* buf, const int* size, const int* src, const int* mai, int* ier) {
  *ier = call_with_size(fmpl_recv, buf, *size, *src, *mai);
}
void fmpl_isend_(const void* buf, const int* size, const int* dst, const int* mai,
                 fmpl_request* request, int* ier) {
  *ier = call_with_size(fmpl_isend, buf, *size, *dst, *mai, request);
}
void fmpl_irecv_(void* buf, const int* size, const int* src, const int* mai, fmpl_request* request,
                 int* ier) {
  *ier = call_with_size(fmpl_irecv, buf, *size, *src, *mai, request);
}
void fmpl_isend_prepare_(const void* buf, const int* size, const int* dst, const int* mai,
                         fmpl_request* request, int* ier) {
  *ier = call_with_size(fmpl_isend_prepare, buf, *size, *dst, *mai, request);
}
void fmpl_irecv_prepare_(void* buf, const int* size, const int* src, const int* mai,
                         fmpl_request* request, int* ier) {
  *ier = call_with_size(fmpl_irecv_prepare, buf, *size, *src, *mai, request);
}
void fmpl_isend_start_(fmpl_request* request, int* ier) {
  *ier = fmpl_isend_start(request);
}
void fmpl_irecv_start_(fmpl_request* request, int* ier) {
  *ier = fmpl_irecv_start(request);
}
void fmpl_irecv_release_(fmpl_request* request, int* ier) {
  *ier = fmpl_irecv_release(request);
}
void fmpl_wait_isend_(fmpl_request* request, int* ier) {
  *ier = fmpl_wait_isend(request);
}
void fmpl_wait_irecv_(fmpl_request* request, int* ier) {
  *ier = fmpl_wait_irecv(request);
}
void fmpl_test_isend_(fmpl_request* request, int* flag, int* ier) {
  *ier = fmpl_test_isend(request, flag);
}
void fmpl_test_irecv_(fmpl_request* request, int* flag, int* ier) {
  *ier = fmpl_test_irecv(request, flag);
}
void fmpl_cancel_irecv_(fmpl_request* request, int* ier) {
  *ier = fmpl_cancel_irecv(request);
}
void fmpl_sendbuff_set_(void* buf, const int* size, const int* ipara, int* ier) {
  *ier = call_with_size(fmpl_sendbuff_set, buf, *size, *ipara);
}
void fmpl_sendbuff_check_(int* nsend, int* nspool, int* ier) {
  *ier = fmpl_sendbuff_check(nsend, nspool);
}

void fmpl_comm_create_(int* comm, const int* key, int* ier) {
  *ier = fmpl_comm_create(comm, *key);
}
void fmpl_comm_free_(int* comm, int* ier) {
  *ier = fmpl_comm_free(comm);
}
void fmpl_support_set_(const int* comm, const int* support, int* ier) {
  *ier = fmpl_support_set(*comm, *support);
}
void fmpl_rank_(const int* comm, int* rank, int* ier) {
  *rank = fmpl_rank(*comm);
  *ier = status_of_number(*rank);
}
void fmpl_size_(const int* comm, int* size, int* ier) {
  *size = fmpl_size(*comm);
  *ier = status_of_number(*size);
}

void fmpl_barrier_(const int* comm, int* ier) {
  *ier = fmpl_barrier(*comm);
}
void fmpl_bcast_(void* buf, const int* size, const int* root, const int* comm, int* ier) {
  *ier = call_with_size(fmpl_bcast, buf, *size, *root, *comm);
}
void fmpl_hbcast_(void* buf, const int* size, const int* root, int* ier) {
  *ier = call_with_size(fmpl_hbcast, buf, *size, *root);
}

#define FUNCTIONS(t)                                                   \
  void fmpl_##t##sum_(const void* in, void* inout, const int* count) { \
    fmpl_##t##sum(in, inout, *count);                                  \
  }                                                                    \
  void fmpl_##t##max_(const void* in, void* inout, const int* count) { \
    fmpl_##t##max(in, inout, *count);                                  \
  }                                                                    \
  void fmpl_##t##min_(const void* in, void* inout, const int* count) { \
    fmpl_##t##min(in, inout, *count);                                  \
  }
FUNCTIONS(i)
FUNCTIONS(s)
FUNCTIONS(d)
FUNCTIONS(c)
FUNCTIONS(z)
#undef FUNCTIONS

void fmpl_func_set_(FortranFunction* func, const int* size, int* ier) {
  *ier = *size < 1 ? FMPL_ERR_ARGUMENT : FMPL_SUCCESS;
  if (*ier == FMPL_SUCCESS)
    register_function(reinterpret_cast<void*>(func),
                      {static_cast<size_t>(*size), call_fortran_function});
}

// A program reduces by its own functions, or by those above, which are registered at the first
// reduction.
static void register_predefined_functions() {
  static bool are_registered = false;
  if (are_registered) return;
  are_registered = true;
  const auto add = [](size_t size, std::initializer_list<FortranFunction*> some) {
    for (FortranFunction* const one : some)
      register_function(reinterpret_cast<void*>(one), {size, call_fortran_function});
  };
  add(4, {fmpl_isum_, fmpl_imax_, fmpl_imin_, fmpl_ssum_, fmpl_smax_, fmpl_smin_});
  add(8, {fmpl_dsum_, fmpl_dmax_, fmpl_dmin_, fmpl_csum_, fmpl_cmax_, fmpl_cmin_});
  add(16, {fmpl_zsum_, fmpl_zmax_, fmpl_zmin_});
}

void fmpl_reduce_(void* buf, const int* count, FortranFunction* func, const int* root,
                  const int* comm, void*, int* ier) {
  register_predefined_functions();
  *ier = reduce(NAGAYA_REDUCE, buf, *count, reinterpret_cast<void*>(func), *root, *comm);
}
void fmpl_allreduce_(void* buf, const int* count, FortranFunction* func, const int* comm, void*,
                     int* ier) {
  register_predefined_functions();
  *ier = reduce(NAGAYA_ALLREDUCE, buf, *count, reinterpret_cast<void*>(func), 0, *comm);
}

}  // extern "C"
#pragma GCC visibility pop
