// SPDX-License-Identifier: BSD-3-Clause
#include "beneath/large_counts.h"

#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

// How many elements the arrays of a call have: `first` those before the receive buffer, `second`
// the others.
struct Lengths {
  int first = 0, second = 0;
};

Lengths degrees_of(MPI_Comm comm) {
  int topology = MPI_UNDEFINED, rank = 0, weighted = 0, count = 0;
  Lengths lengths;
  beneath.Topo_test(comm, &topology);
  if (topology == MPI_DIST_GRAPH) {
    beneath.Dist_graph_neighbors_count(comm, &lengths.second, &lengths.first, &weighted);
    return lengths;
  }
  if (topology == MPI_CART) {
    beneath.Cartdim_get(comm, &count);
    return {2 * count, 2 * count};
  }
  beneath.Comm_rank(comm, &rank);
  if (topology == MPI_GRAPH) beneath.Graph_neighbors_count(comm, rank, &count);
  return {count, count};
}

// `root`: nullptr if the arrays matter everywhere.
Lengths sizes_of(MPI_Comm comm, const int* root, bool is_reduction) {
  int rank = 0, is_inter = 0, size = 0;
  beneath.Comm_rank(comm, &rank);
  beneath.Comm_test_inter(comm, &is_inter);
  if (root != nullptr && *root != (is_inter ? MPI_ROOT : rank)) return {};
  if (is_inter && !is_reduction)
    beneath.Comm_remote_size(comm, &size);
  else
    beneath.Comm_size(comm, &size);
  return {size, size};
}

// One argument of X_c for X. Its value lives as long as the call.
template <class Small, class Large>
class Argument {
 public:
  Argument(Large large, int)
      : small_(static_cast<Small>(large)), fits_(std::in_range<Small>(large)) {}
  Small get() { return small_; }
  bool fits() const { return fits_; }

 private:
  Small small_;
  bool fits_;
};

template <class Same>
class Argument<Same, Same> {
 public:
  Argument(Same value, int) : value_(value) {}
  Same get() { return value_; }
  bool fits() const { return true; }

 private:
  Same value_;
};

// A result, or a position that is changed.
template <class Small, class Large>
requires(!std::is_const_v<Large> && !std::is_same_v<Small, Large>) class Argument<Small*, Large*> {
 public:
  Argument(Large* large, int) : large_(large), small_(static_cast<Small>(*large)) {}
  ~Argument() { *large_ = small_; }
  Small* get() { return &small_; }
  bool fits() const { return true; }

 private:
  Large* large_;
  Small small_;
};

// Counts or displacements. An MPI that lacks X_c reads them before a nonblocking X returns.
template <class Small, class Large>
requires(!std::is_same_v<Small, Large>) class Argument<const Small*, const Large*> {
 public:
  Argument(const Large* large, int length) {
    for (int n = 0; large != nullptr && n < length; ++n) {
      fits_ = fits_ && std::in_range<Small>(large[n]);
      small_.push_back(static_cast<Small>(large[n]));
    }
  }
  const Small* get() { return small_.data(); }
  bool fits() const { return fits_; }

 private:
  std::vector<Small> small_;
  bool fits_ = true;
};

template <class Wanted, class... Arguments>
const Wanted* find_argument(const std::tuple<Arguments...>& arguments) {
  const Wanted* found = nullptr;
  std::apply(
      [&found](const auto&... each) {
        (
            [&] {
              if constexpr (std::is_same_v<std::remove_cvref_t<decltype(each)>, Wanted>)
                found = &each;
            }(),
            ...);
      },
      arguments);
  return found;
}

template <class Pointer>
constexpr bool is_array =
    std::is_pointer_v<Pointer>&& std::is_const_v<std::remove_pointer_t<Pointer>> &&
    (std::is_same_v<Pointer, const MPI_Count*> || std::is_same_v<Pointer, const MPI_Aint*>);

template <auto small, bool is_of_neighbors, class SmallFunction, class LargeFunction>
struct ByInts;

template <auto small, bool is_of_neighbors, class... Small, class... Large>
struct ByInts<small, is_of_neighbors, int (*)(Small...), int (*)(Large...)> {
  static Lengths lengths_of(const std::tuple<Large...>& arguments) {
    if constexpr (!(is_array<Large> || ...)) return {};
    const MPI_Comm comm = *find_argument<MPI_Comm>(arguments);
    if (is_of_neighbors) return degrees_of(comm);
    return sizes_of(comm, find_argument<int>(arguments),
                    find_argument<MPI_Op>(arguments) != nullptr);
  }

  static int call(Large... large) {
    const Lengths lengths = lengths_of({large...});
    // The receive buffer is the only pointer to void that is not constant.
    bool is_behind_buffer = false;
    const auto length = [&](auto argument) {
      is_behind_buffer = is_behind_buffer || std::is_same_v<decltype(argument), void*>;
      return is_behind_buffer ? lengths.second : lengths.first;
    };
    std::tuple<Argument<Small, Large>...> arguments{
        Argument<Small, Large>(large, length(large))...};
    return std::apply(
        [](auto&... argument) {
          return (argument.fits() && ...) ? (beneath.*small)(argument.get()...) : MPI_ERR_COUNT;
        },
        arguments);
  }
};

template <class... Small, class... Large>
constexpr bool have_as_many_arguments(int (*)(Small...), int (*)(Large...)) {
  return sizeof...(Small) == sizeof...(Large);
}

template <auto large, auto small, bool is_of_neighbors>
void add_one(Functions& all) {
  using Large = std::remove_reference_t<decltype(all.*large)>;
  using Small = std::remove_reference_t<decltype(all.*small)>;
  if constexpr (have_as_many_arguments(Small{}, Large{}))
    if (all.*large == nullptr && all.*small != nullptr)
      all.*large = ByInts<small, is_of_neighbors, Small, Large>::call;
}

// For each function X of functions.def that has a twin X_c there. `All`: Functions, so that twins
// are asked for when this is instantiated.
template <class All>
void add_all(All& all) {
#define EXPORTED(result, name, arguments)     \
  if constexpr (requires { &All::name##_c; }) \
    add_one<&All::name##_c, &All::name,       \
            std::string_view(#name).find("eighbor") != std::string_view::npos>(all);
#define EXTENSION(result, name, arguments)
#define CALLED(result, name, arguments) EXPORTED(result, name, arguments)
#include "functions.def"
#undef EXPORTED
#undef EXTENSION
#undef CALLED
}

}  // namespace

void add_large_counts(Functions& all) {
  // The _x of MPI 3 have results of MPI_Count.
  if (all.Type_size_c == nullptr) all.Type_size_c = all.Type_size_x;
  add_all(all);
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
