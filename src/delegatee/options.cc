// SPDX-License-Identifier: BSD-3-Clause
#include "delegatee/options.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <ranges>
#include <string_view>

#include "base/error.h"
#include "llcl/board/board.h"

namespace nagaya::delegatee {
namespace {

struct Variable {
  std::string_view name;
  const char* values;  // for people
  bool (*choose)(Options& options, std::string_view value);
};

template <typename Choice>
struct Named {
  std::string_view name;
  Choice choice;
};

template <typename Choice, size_t kCount>
bool find(const Named<Choice> (&choices)[kCount], std::string_view name, Choice& found) {
  for (const auto& named : choices)
    if (named.name == name) found = named.choice;
  return std::any_of(choices, choices + kCount, [&](const auto& n) { return n.name == name; });
}

bool choose_notification(Options& options, std::string_view value) {
  constexpr Named<Notification> kChoices[] = {{"polling", Notification::kPolling},
                                              {"kernel", Notification::kKernel},
                                              {"automatic", Notification::kAutomatic}};
  return find(kChoices, value, options.notification);
}

bool choose_aggregation(Options& options, std::string_view value) {
  constexpr Named<uint32_t> kChoices[] = {{"on", Options{}.batch_records}, {"off", 1}};
  return find(kChoices, value, options.batch_records);
}

bool choose_queue(Options& options, std::string_view value) {
  constexpr Named<Queue> kChoices[] = {{"lanes", Queue::kLanes}, {"ring", Queue::kRing}};
  return find(kChoices, value, options.queue);
}

bool choose_delegatees(Options& options, std::string_view value) {
  constexpr Named<uint32_t> kChoices[] = {
      {"automatic", 0}, {"1", 1}, {"2", 2}, {"4", 4}, {"8", llcl::kDelegateesMax}};
  return find(kChoices, value, options.delegatees);
}

bool choose_devices(Options& options, std::string_view value) {
  options.devices.clear();
  for (const auto name : std::views::split(value, ',')) {
    if (name.empty()) return false;
    options.devices.emplace_back(name.begin(), name.end());
  }
  return !options.devices.empty() && options.devices.size() <= llcl::kDelegateesMax &&
         !value.ends_with(',');
}

bool choose_proof(Options& options, std::string_view value) {
  constexpr Named<bool> kChoices[] = {{"control", false}, {"batch", true}};
  return find(kChoices, value, options.proof_covers_data);
}

// The probe is sent after at most half of the time, so that the node has the rest to answer.
bool choose_fail_after(Options& options, std::string_view value) {
  constexpr uint32_t kMin = 10, kMax = 86'400'000;
  uint32_t milliseconds = 0;
  const auto [end, error] =
      std::from_chars(value.data(), value.data() + value.size(), milliseconds);
  if (error != std::errc{} || end != value.data() + value.size()) return false;
  if (milliseconds < kMin || milliseconds > kMax) return false;
  options.fail_after_ms = milliseconds;
  options.probe_after_ms = std::min(Options{}.probe_after_ms, milliseconds / 2);
  return true;
}

// Described in nagaya(7).
constexpr Variable kVariables[] = {
    {"NAGAYA_NOTIFICATION", "polling, kernel or automatic", choose_notification},
    {"NAGAYA_AGGREGATION", "on or off", choose_aggregation},
    {"NAGAYA_DELEGATEES", "automatic, 1, 2, 4 or 8", choose_delegatees},
    {"NAGAYA_NETWORK_DEVICES", "at most 8 names with commas between them", choose_devices},
    {"NAGAYA_QUEUE", "lanes or ring", choose_queue},
    {"NAGAYA_PROOF", "control or batch", choose_proof},
    {"NAGAYA_FAIL_AFTER_MS", "10 to 86400000", choose_fail_after},
};

const Variable* find_variable(std::string_view text) {
  const auto names = [&](const Variable& variable) {
    return text.starts_with(variable.name) && text.substr(variable.name.size()).starts_with('=');
  };
  const auto* const found = std::find_if(std::begin(kVariables), std::end(kVariables), names);
  return found == std::end(kVariables) ? nullptr : found;
}

}  // namespace

std::string device_of(const Options& options, uint32_t n) {
  return options.devices.empty() ? "" : options.devices[n % options.devices.size()];
}

uint32_t delegatees_for(const Options& options) {
  return std::bit_ceil(static_cast<uint32_t>(std::max<size_t>(options.devices.size(), 1)));
}

bool is_option(const std::string& variable) {
  return find_variable(variable) != nullptr;
}

void choose(Options& options, const std::string& variable) {
  const Variable& known = *find_variable(variable);
  if (!known.choose(options, std::string_view(variable).substr(known.name.size() + 1)))
    throw base::Error(-EINVAL, variable + ": can be " + known.values);
}

}  // namespace nagaya::delegatee
