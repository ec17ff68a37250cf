// SPDX-License-Identifier: BSD-3-Clause
// clang_session.h - one use of Clang's libraries on one file: set up, run, messages collected.
#pragma once

#include <clang/Frontend/CompilerInstance.h>

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "place.h"

namespace nagaya::xmp {

struct ClangMessage {
  Place place;  // its file's name lies in the session
  std::string kind, text;
  bool system_header;
  size_t offset;  // in the file that holds the main text; npos: elsewhere
};

class ClangSession {
 public:
  // Arguments are those of `clang -cc1`. `contents`, if not null, is the file's text.
  ClangSession(std::vector<std::string> arguments, const std::string& file,
               const std::string& standard, const std::string* contents,
               const std::string& language);
  ~ClangSession();

  // Makes the preprocessor; false: the file cannot be read, or the target is unknown.
  bool begin();
  void end();

  clang::CompilerInstance& compiler() { return *compiler_; }
  clang::Preprocessor& preprocessor() { return compiler_->getPreprocessor(); }
  const std::vector<ClangMessage>& messages() const { return messages_; }
  bool failed() const { return failed_; }

 private:
  class Collector;

  std::unique_ptr<clang::CompilerInstance> compiler_;
  std::unique_ptr<Collector> collector_;
  std::vector<ClangMessage> messages_;
  std::deque<std::string> files_;
  std::string file_;
  const std::string* contents_;
  bool begun_ = false;
  bool failed_ = false;
};

}  // namespace nagaya::xmp
