// SPDX-License-Identifier: BSD-3-Clause
#include "calls/counted.h"

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <string_view>
#include <tuple>

#include "objects/communicator.h"
#include "objects/window.h"

namespace nagaya::mpi::NAGAYA_MPI_ABI {
namespace {

using std::string_view;

std::atomic<uint64_t> point_to_point, collective, one_sided;
Functions counted;

constexpr bool has_any(string_view name, std::initializer_list<string_view> parts) {
  for (const string_view part : parts)
    if (name.find(part) != string_view::npos) return true;
  return false;
}
enum class Kind { kPointToPoint, kCollective, kOneSided, kOther };

// Tells by a part of the function's name without its first letter, which is a small one in
// Ibarrier.
constexpr Kind kind_of(string_view name, string_view arguments) {
  if (has_any(arguments, {"MPI_Win"}))
    return has_any(name, {"Win_"}) ? Kind::kOther : Kind::kOneSided;
  if (has_any(name, {"end", "ecv", "robe"})) return Kind::kPointToPoint;
  if (has_any(name, {"arrier", "cast", "ather", "catter", "lltoall", "educe", "can"}))
    return Kind::kCollective;
  return Kind::kOther;
}

// Returns which argument of the list "(const void*, int, MPI_Comm)" is the communicator or window;
// -1: none is.
constexpr int place_of_object(string_view arguments) {
  const size_t at = std::min(arguments.find("MPI_Comm"), arguments.find("MPI_Win"));
  if (at == string_view::npos) return -1;
  int place = 0;
  for (const char letter : arguments.substr(0, at)) place += letter == ',';
  return place;
}

template <Kind kind, class Handle>
void count(Handle handle) {
  if constexpr (kind == Kind::kOneSided) {
    if (Window::find(handle) != nullptr) one_sided.fetch_add(1, std::memory_order_relaxed);
  } else if (Communicator::find(handle) != nullptr) {
    (kind == Kind::kCollective ? collective : point_to_point)
        .fetch_add(1, std::memory_order_relaxed);
  }
}

template <auto function, int place, Kind kind, class Result, class... Arguments>
Result count_and_call(Arguments... arguments) {
  count<kind>(std::get<place>(std::tie(arguments...)));
  return (counted.*function)(arguments...);
}

template <auto function, int place, Kind kind, class Result, class... Arguments>
void put_before(Result (*&own)(Arguments...)) {
  if constexpr (kind != Kind::kOther && place >= 0)
    if (own != nullptr) own = count_and_call<function, place, kind, Result, Arguments...>;
}

}  // namespace

CallCounts counted_calls() {
  return {point_to_point.load(std::memory_order_relaxed),
          collective.load(std::memory_order_relaxed), one_sided.load(std::memory_order_relaxed)};
}

void count_calls(Functions& ours) {
  counted = ours;
#define EXPORTED(result, name, arguments) \
  put_before<&Functions::name, place_of_object(#arguments), kind_of(#name, #arguments)>(ours.name);
#define EXTENSION(result, name, arguments)
#define CALLED(result, name, arguments)
#include "functions.def"
#undef EXPORTED
#undef EXTENSION
#undef CALLED
}

}  // namespace nagaya::mpi::NAGAYA_MPI_ABI
