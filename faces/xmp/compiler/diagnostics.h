// SPDX-License-Identifier: BSD-3-Clause
// diagnostics.h - errors and warnings in the form of a C compiler, with the line and a caret.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "place.h"

namespace nagaya::xmp {

// An error in the user's program. Parsers and checks of directives throw it; their caller reports
// it.
struct Complaint {
  Place place;
  std::string text;  // without the prefix "xmp: ", which error() adds
  // The program uses a part of XcalableMP that is not supported; errors of C after it may be mere
  // consequences.
  bool is_unsupported = false;
};

// Treatment of warnings: -w hides them, -Werror makes them errors.
enum class Warnings { kShown, kHidden, kErrors };

class Diagnostics {
 public:
  // `quiet`: prints nothing, for tests. messages() returns all messages in any case.
  explicit Diagnostics(bool quiet = false, Warnings warnings = Warnings::kShown)
      : quiet_(quiet), warnings_(warnings) {}

  // Reports an error in an XMP directive: "FILE:LINE:COLUMN: error: xmp: TEXT".
  void error(const Place& place, const std::string& text);
  void error(const Complaint& complaint) { error(complaint.place, complaint.text); }
  // Reports a warning about XMP: "FILE:LINE:COLUMN: warning: xmp: TEXT".
  void warning(const Place& place, const std::string& text);
  // Reports a message about plain C: "FILE:LINE:COLUMN: KIND: TEXT". KIND is "error", "warning" or
  // "note".
  void plain(const Place& place, const std::string& kind, const std::string& text);

  int errors() const { return errors_; }
  const std::vector<std::string>& messages() const { return messages_; }

 private:
  void print(const Place& place, const std::string& message);
  const std::string* line_of(const Place& place);

  bool quiet_;
  Warnings warnings_;
  int errors_ = 0;
  std::vector<std::string> messages_;
  std::set<std::string> printed_;  // so that an error in a header is printed once
  std::map<std::string, std::vector<std::string>, std::less<>> files_;
};

}  // namespace nagaya::xmp
