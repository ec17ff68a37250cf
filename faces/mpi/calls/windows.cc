// SPDX-License-Identifier: BSD-3-Clause
// windows.cc - windows are made and freed. A window over a communicator that is not ours is one of
// the MPI beneath. While one exists, others may access the memory of this process by messages of
// that MPI, so waits of ours advance it.
#include <bit>
#include <cstdlib>
#include <new>
#include <string_view>

#include "beneath/foreign_call.h"
#include "beneath/progress.h"
#include "calls/calls.h"
#include "calls/window_call.h"
#include "objects/errors.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// ---- over communicators that are not ours

template <class Function, class... Arguments>
int make_beneath(Function function, Arguments... arguments) {
  const int error = call_beneath(function, arguments...);
  if (error == MPI_SUCCESS) ProgressBeneath::add_pending();
  return error;
}

int free_beneath(MPI_Win* handle) {
  const int error = call_beneath(beneath.Win_free, handle);
  if (error == MPI_SUCCESS) ProgressBeneath::remove_pending();
  return error;
}

// ---- ours

constexpr size_t kInfoValueMax = 255;

// Returns "" if the info lacks the key.
std::string_view value_of(MPI_Info info, const char* key, char (&value)[kInfoValueMax + 1]) {
  int flag = 0;
  if (info == MPI_INFO_NULL ||
      beneath.Info_get(info, key, kInfoValueMax, value, &flag) != MPI_SUCCESS || !flag)
    return "";
  return value;
}

// In bytes; 0: any. A wish that nagaya/window.h does not offer is ignored, as hints may be.
size_t alignment_of(MPI_Info info) {
  constexpr size_t kMost = 2 << 20;
  char value[kInfoValueMax + 1];
  if (value_of(info, "mpi_minimum_memory_alignment", value).empty()) return 0;
  const size_t wanted = std::strtoul(value, nullptr, 10);
  return std::has_single_bit(wanted) && wanted <= kMost ? wanted : 0;
}

bool is_noncontiguous(MPI_Info info) {
  char value[kInfoValueMax + 1];
  return value_of(info, "alloc_shared_noncontig", value) == "true";
}

int check(const nagaya_window_memory& own, MPI_Aint bytes, MPI_Aint unit) {
  if (bytes < 0) return MPI_ERR_SIZE;
  if (unit <= 0) return MPI_ERR_DISP;
  if (own.kind == NAGAYA_WINDOW_CREATE && own.base == nullptr && bytes != 0) return MPI_ERR_BASE;
  return MPI_SUCCESS;
}

// Members with wrong arguments take part, so that all others get an error, too.
int make(Communicator& comm, int flavor, nagaya_window_memory own, MPI_Aint bytes, MPI_Aint unit,
         MPI_Info info, MPI_Win* out, Window*& made) {
  const int wrong = check(own, bytes, unit);
  own.bytes = static_cast<size_t>(bytes);
  own.unit = static_cast<size_t>(unit);
  if (wrong != MPI_SUCCESS) {
    own.bytes = 0;
    own.unit = 1;
    own.error = -EINVAL;
  }
  int error = MPI_SUCCESS;
  try {
    error = Window::make(comm, flavor, own, info, made);
  } catch (const std::bad_alloc&) {
    error = MPI_ERR_NO_MEM;
  }
  if (error == MPI_SUCCESS) *out = made->handle();
  return raise(&comm, wrong != MPI_SUCCESS ? wrong : error);
}

template <class Unit>
int create(void* base, MPI_Aint bytes, Unit unit, MPI_Info info, MPI_Comm handle, MPI_Win* out) {
  Communicator* const comm = Communicator::find_or_adopt(handle);
  if (comm == nullptr)
    return make_beneath(of_count<Unit>(beneath.Win_create, beneath.Win_create_c), base, bytes, unit,
                        info, handle, out);
  Window* made = nullptr;
  nagaya_window_memory own{};
  own.kind = NAGAYA_WINDOW_CREATE;
  own.base = base;
  return make(*comm, MPI_WIN_FLAVOR_CREATE, own, bytes, unit, info, out, made);
}

int create_dynamic(MPI_Info info, MPI_Comm handle, MPI_Win* out) {
  Communicator* const comm = Communicator::find_or_adopt(handle);
  if (comm == nullptr) return make_beneath(beneath.Win_create_dynamic, info, handle, out);
  Window* made = nullptr;
  nagaya_window_memory own{};
  own.kind = NAGAYA_WINDOW_DYNAMIC;
  return make(*comm, MPI_WIN_FLAVOR_DYNAMIC, own, 0, 1, info, out, made);
}

int make_with_memory(Communicator& comm, bool is_shared, MPI_Aint bytes, MPI_Aint unit,
                     MPI_Info info, void* base, MPI_Win* out) {
  Window* made = nullptr;
  nagaya_window_memory own{};
  own.kind =
      is_shared && !is_noncontiguous(info) ? NAGAYA_WINDOW_CONTIGUOUS : NAGAYA_WINDOW_ALLOCATE;
  own.alignment = alignment_of(info);
  const int error = make(comm, is_shared ? MPI_WIN_FLAVOR_SHARED : MPI_WIN_FLAVOR_ALLOCATE, own,
                         bytes, unit, info, out, made);
  if (error == MPI_SUCCESS) *static_cast<void**>(base) = made->base();
  return error;
}

template <bool is_shared, auto function, class Unit>
int allocate(MPI_Aint bytes, Unit unit, MPI_Info info, MPI_Comm handle, void* base, MPI_Win* out) {
  Communicator* const comm = Communicator::find_or_adopt(handle);
  // Between nodes nothing is shared: the MPI beneath says so.
  if (comm == nullptr || (is_shared && comm->is_over_nodes()))
    return make_beneath(beneath.*function, bytes, unit, info, handle, base, out);
  return make_with_memory(*comm, is_shared, bytes, unit, info, base, out);
}

int free_window(MPI_Win* handle) {
  Window* const window = Window::find(*handle);
  if (window == nullptr) return free_beneath(handle);
  const int error = window->free(handle);
  // Another error is one of the carrier's, whose handler has been called.
  return error == MPI_ERR_RMA_SYNC ? raise(*window, error) : error;
}

int attach(Window& window, void* base, MPI_Aint bytes) {
  if (!window.is_dynamic()) return MPI_ERR_RMA_FLAVOR;
  if (bytes < 0) return MPI_ERR_SIZE;
  return class_of_window_error(
      ::nagaya_window_attach(window.accesses(), base, static_cast<size_t>(bytes)));
}

int detach(Window& window, const void* base) {
  if (!window.is_dynamic()) return MPI_ERR_RMA_FLAVOR;
  return class_of_window_error(::nagaya_window_detach(window.accesses(), base));
}

}  // namespace

void add_windows(Functions& ours) {
  ours.Win_create = create<int>;
  ours.Win_create_c = create<MPI_Aint>;
  ours.Win_allocate = allocate<false, &Functions::Win_allocate>;
  ours.Win_allocate_c = allocate<false, &Functions::Win_allocate_c>;
  ours.Win_allocate_shared = allocate<true, &Functions::Win_allocate_shared>;
  ours.Win_allocate_shared_c = allocate<true, &Functions::Win_allocate_shared_c>;
  ours.Win_create_dynamic = create_dynamic;
  ours.Win_free = free_window;
  enter_with_window<attach, &Functions::Win_attach>(ours);
  enter_with_window<detach, &Functions::Win_detach>(ours);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
