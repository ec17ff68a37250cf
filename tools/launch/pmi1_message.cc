// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi1_message.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace nagaya::tools {
namespace {

constexpr std::string_view kSpawnBegin = "mcmd=spawn", kSpawnEnd = "endcmd", kArgument = "arg";

// MPI's text about an abort: it has blanks, and is the last field of its line.
bool begins_free_text(std::string_view line) {
  return line.starts_with("message=") || line.starts_with("error_msg=");
}

Pmi1Command command_of(std::string_view line) {
  Pmi1Fields fields;
  while (!line.empty()) {
    const std::string_view field = begins_free_text(line) ? line : line.substr(0, line.find(' '));
    const size_t equals = field.find('=');
    if (equals != field.npos) fields.set(field.substr(0, equals), field.substr(equals + 1));
    line.remove_prefix(std::min(line.size(), field.size() + 1));
  }
  return {fields.text("cmd"), {fields}};
}

bool is_numbered(std::string_view name, std::string_view beginning) {
  return name.starts_with(beginning) && name.size() > beginning.size() &&
         name.find_first_not_of("0123456789", beginning.size()) == name.npos;
}

bool names_spawn_field(std::string_view name) {
  constexpr std::string_view kPlain[] = {"totspawns", "spawnssofar", "nprocs",  "execname",
                                         "argcnt",    "preput_num",  "info_num"};
  constexpr std::string_view kNumbered[] = {kArgument, "preput_key_", "preput_val_", "info_key_",
                                            "info_val_"};
  return std::find(std::begin(kPlain), std::end(kPlain), name) != std::end(kPlain) ||
         std::any_of(std::begin(kNumbered), std::end(kNumbered),
                     [&](std::string_view beginning) { return is_numbered(name, beginning); });
}

}  // namespace

const std::string& Pmi1Fields::text(const std::string& name, size_t max_bytes) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw pmi1_error("no " + name);
  if (found->second.size() > max_bytes)
    throw pmi1_error(name + " has more than " + std::to_string(max_bytes) + " bytes");
  return found->second;
}

void Pmi1Fields::append_line(const std::string& name, std::string_view line) {
  values_[name].append("\n").append(line);
}

std::string Pmi1Fields::text_or(const std::string& name, const std::string& otherwise) const {
  return values_.contains(name) ? text(name) : otherwise;
}

void Pmi1Reader::append(std::string_view bytes) {
  received_.erase(0, std::exchange(taken_, 0));
  received_ += bytes;
}

std::optional<Pmi1Command> Pmi1Reader::next() {
  while (const auto line = next_line()) {
    if (spawn_) {
      if (add_to_spawn(*line)) return std::exchange(spawn_, std::nullopt);
    } else if (*line == kSpawnBegin) {
      spawn_ = Pmi1Command{"spawn", {Pmi1Fields()}};
      spawn_bytes_ = 0;
      argument_.clear();
    } else if (line->starts_with("cmd=")) {
      return command_of(*line);
    } else {
      throw pmi1_error("begins with neither cmd= nor mcmd=spawn");
    }
  }
  return std::nullopt;
}

std::optional<std::string_view> Pmi1Reader::next_line() {
  const std::string_view rest = std::string_view(received_).substr(taken_);
  const size_t bytes = rest.find('\n');
  if (std::min(bytes, rest.size()) > kPmi1LineMaxBytes)
    throw pmi1_error("a line of more than " + std::to_string(kPmi1LineMaxBytes) + " bytes");
  if (bytes == rest.npos) return std::nullopt;
  taken_ += bytes + 1;
  const std::string_view line = rest.substr(0, bytes);
  if (line.find('\0') != line.npos) throw pmi1_error("a zero byte");
  return line;
}

// Returns true if the command is complete.
bool Pmi1Reader::add_to_spawn(std::string_view line) {
  spawn_bytes_ += line.size() + 1;
  if (spawn_bytes_ > kPmi1SpawnMaxBytes)
    throw pmi1_error("a spawn of more than " + std::to_string(kPmi1SpawnMaxBytes) + " bytes");
  if (line == kSpawnEnd)
    return spawn_->parts.size() >= spawn_->fields().number<size_t>("totspawns");
  if (line == kSpawnBegin) {
    spawn_->parts.emplace_back();
    argument_.clear();
    return false;
  }
  Pmi1Fields& part = spawn_->parts.back();
  const std::string_view name = line.substr(0, line.find('='));
  if (name.size() < line.size() && (argument_.empty() || names_spawn_field(name))) {
    part.set(name, line.substr(name.size() + 1));
    argument_ = is_numbered(name, kArgument) ? name : "";
  } else if (!argument_.empty()) {
    part.append_line(argument_, line);
  } else {
    throw pmi1_error("a line that is no field");
  }
  return false;
}

}  // namespace nagaya::tools
