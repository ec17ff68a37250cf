// SPDX-License-Identifier: BSD-3-Clause
#include "llcl/requests/tuning.h"

#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <utility>

#include "base/error.h"

namespace nagaya::llcl {
namespace {

using base::Error;

constexpr char kVariable[] = "NAGAYA_TUNING";

struct Threshold {
  std::string_view name;
  size_t size;  // by default
  size_t max;
};

// In the order of Tuned. Measured in October and November 2026 on an AMD EPYC with two processors
// (docs/results).
constexpr Threshold kThresholds[] = {
    {"posted_max_bytes", 4096, 1 << 20},
    {"combined_max_bytes", 4096, 1 << 20},
    // 3 to 32 members cross at 16 to 32 KiB. But each keeps a copy for each of its 64 lines.
    {"crowded_reduce_max_bytes", 8192, 1 << 20},
    {"tile_bytes", 8192, 1 << 20},
    {"exchanged_max_bytes", 8192, 1 << 20},
    {"alltoall_by_leaders_max_bytes", 1024, 1 << 16},
    // Modelled (docs/scale.md).
    {"large_team_min_members", 16, 1 << 20},
    {"large_team_members_per_processor", 1, 1 << 20},
};
static_assert(std::size(kThresholds) == static_cast<size_t>(Tuned::kCount));

std::string_view without_comment(std::string_view line) {
  return line.substr(0, line.find('#'));
}

// Removes the next word from `line` and returns it; empty: there is none.
std::string_view next_word(std::string_view& line) {
  constexpr std::string_view kBlanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
  const std::string_view word = line.substr(0, line.find_first_of(kBlanks));
  line.remove_prefix(word.size());
  return word;
}

const Threshold* find(std::string_view name) {
  for (const Threshold& threshold : kThresholds)
    if (threshold.name == name) return &threshold;
  return nullptr;
}

std::string known_names() {
  std::string names;
  for (const Threshold& threshold : kThresholds)
    names.append(names.empty() ? "" : ", ").append(threshold.name);
  return names;
}

size_t number_of(std::string_view word, const Threshold& threshold) {
  size_t size = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), size);
  if (error != std::errc{} || end != word.data() + word.size() || size > threshold.max)
    throw Error(-EINVAL, std::string(threshold.name) + " is 0 to " + std::to_string(threshold.max));
  return size;
}

std::string content_of(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  // A read error in peek() throws nothing: it makes the file bad.
  if (file.peek() != std::ifstream::traits_type::eof()) text << file.rdbuf();
  if (!file.is_open() || file.bad() || !text)
    throw Error(-EINVAL, std::string(kVariable) + "=" + path + ": cannot be read");
  return std::move(text).str();
}

}  // namespace

Tuning::Tuning() {
  for (size_t n = 0; n < sizes_.size(); ++n) sizes_[n] = kThresholds[n].size;
}

const Tuning& Tuning::own() {
  static const Tuning tuning = [] {
    const char* const path = std::getenv(kVariable);
    return path == nullptr || *path == '\0' ? Tuning() : parse(content_of(path), path);
  }();
  return tuning;
}

Tuning Tuning::parse(std::string_view text, std::string_view name) {
  Tuning tuning;
  for (size_t number = 1; !text.empty(); ++number) try {
      const size_t end = text.find('\n');
      std::string_view line = without_comment(text.substr(0, end));
      text.remove_prefix(end == text.npos ? text.size() : end + 1);
      const std::string_view word = next_word(line);
      if (word.empty()) continue;
      const Threshold* const threshold = find(word);
      if (threshold == nullptr)
        throw Error(-EINVAL, "unknown name " + std::string(word) + "; known: " + known_names());
      tuning.sizes_[static_cast<size_t>(threshold - kThresholds)] =
          number_of(next_word(line), *threshold);
      if (!next_word(line).empty()) throw Error(-EINVAL, "one name and one number a line");
    } catch (const Error& error) {
      throw Error(-EINVAL, std::string(name) + ": line " + std::to_string(number) + ": " +
                               error.what() + " (`nagaya bench tune` writes such a table)");
    }
  return tuning;
}

// FNV-1a of the sizes.
uint64_t Tuning::digest() const {
  uint64_t digest = 0xcbf29ce484222325;
  for (const size_t size : sizes_) digest = (digest ^ size) * 0x100000001b3;
  return digest | 1;
}

const Tuning& Tuning::agreed(std::atomic<uint64_t>& known) const {
  uint64_t others = 0;
  const uint64_t own = digest();
  // Relaxed: nothing else is read on its strength.
  if (!known.compare_exchange_strong(others, own, std::memory_order_relaxed) && others != own)
    throw_different_tunings();
  return *this;
}

void throw_different_tunings() {
  throw Error(-EINVAL,
              "the processes of this job, or another job in its space, have different tuning "
              "tables: give all of them the same file by NAGAYA_TUNING, or none");
}

}  // namespace nagaya::llcl
