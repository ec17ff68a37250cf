// SPDX-License-Identifier: BSD-3-Clause
// pmi1_message.h - the commands that a rank sends by PMI-1, as fields.
//
//   cmd=put kvsname=job key=card-3 value=17a3           one line; blanks separate its fields
//
//   mcmd=spawn                                          one part for each program, as many as
//   totspawns=1                                         `totspawns` says; a field on each line
//   nprocs=2
//   execname=worker
//   ...
//   endcmd
#pragma once

#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace nagaya::tools {

inline constexpr size_t kPmi1LineMaxBytes = 128 << 10;
inline constexpr size_t kPmi1SpawnMaxBytes = 1 << 20;  // of a spawn with all its parts
// As hydra has them. MPICH 4.0 reads answers of up to 1 KiB.
inline constexpr size_t kPmi1NameMaxBytes = 256;  // of a key-value space's name
inline constexpr size_t kPmi1KeyMaxBytes = 64;
inline constexpr size_t kPmi1ValueMaxBytes = 1024;

inline base::Error pmi1_error(const std::string& text) {
  return {-EPROTO, text};
}

// The functions throw Error -EPROTO if a field is missing, is too long, or is no such number.
class Pmi1Fields {
 public:
  void set(std::string_view name, std::string_view value) { values_[std::string(name)] = value; }
  void append_line(const std::string& name, std::string_view line);
  const std::string& text(const std::string& name, size_t max_bytes = kPmi1LineMaxBytes) const;
  std::string text_or(const std::string& name, const std::string& otherwise) const;

  template <class Number>
  Number number(const std::string& name) const;
  template <class Number>
  Number number_or(const std::string& name, Number otherwise) const {
    return values_.contains(name) ? number<Number>(name) : otherwise;
  }

 private:
  std::map<std::string, std::string> values_;
};

struct Pmi1Command {
  std::string name;
  std::vector<Pmi1Fields> parts;  // not empty; only "spawn" may have several

  const Pmi1Fields& fields() const { return parts.front(); }
};

// Makes commands from the bytes of a connection.
class Pmi1Reader {
 public:
  void append(std::string_view bytes);
  // Returns the next command that has arrived completely, if there is one. Throws Error -EPROTO:
  // the bytes are no PMI-1; nothing else can be read then.
  std::optional<Pmi1Command> next();

 private:
  std::optional<std::string_view> next_line();
  bool add_to_spawn(std::string_view line);

  std::string received_;
  size_t taken_ = 0;  // of received_
  std::optional<Pmi1Command> spawn_;
  size_t spawn_bytes_ = 0;
  std::string argument_;  // of spawn_: the last field's name, if it may go on in the next line
};

template <class Number>
Number Pmi1Fields::number(const std::string& name) const {
  const std::string& digits = text(name);
  const char* const end = digits.data() + digits.size();
  Number value{};
  const auto [stop, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc{} || stop != end)
    throw pmi1_error(name + "=" + digits.substr(0, 40) + " is not a number in range");
  return value;
}

}  // namespace nagaya::tools
