// SPDX-License-Identifier: BSD-3-Clause
// diagnostics.h - errors and warnings in the form of a C compiler, with the line and a caret.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "place.h"

namespace nagaya::xmp {

// An error of the user's program; thrown by the parser of a directive, reported by its caller.
struct Complaint {
  Place place;
  std::string text;  // without the "xmp: " that is put before it
  // The complaint is of an unsupported part of XcalableMP; later errors of C may only follow from
  // it.
  bool is_unsupported = false;
};

// The wish of the compiler's options -w and -Werror.
enum class Warnings { kShown, kHidden, kErrors };

class Diagnostics {
 public:
  // `quiet`: nothing is printed, for tests; messages() has everything in any case.
  explicit Diagnostics(bool quiet = false, Warnings warnings = Warnings::kShown)
      : quiet_(quiet), warnings_(warnings) {}

  // About an XMP directive: "FILE:LINE:COLUMN: error: xmp: TEXT".
  void error(const Place& place, const std::string& text);
  void error(const Complaint& complaint) { error(complaint.place, complaint.text); }
  // "FILE:LINE:COLUMN: warning: xmp: TEXT"
  void warning(const Place& place, const std::string& text);
  // About plain C: "FILE:LINE:COLUMN: KIND: TEXT". KIND is "error", "warning" or "note".
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
  std::set<std::string> printed_;  // a header's error is said once
  std::map<std::string, std::vector<std::string>, std::less<>> files_;
};

}  // namespace nagaya::xmp
