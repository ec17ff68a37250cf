// SPDX-License-Identifier: BSD-3-Clause
// clang_session.h - one use of Clang's libraries on one file: set up, run, messages collected.
#pragma once

#include <clang/Frontend/CompilerInstance.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "place.h"

namespace nagaya::xmp {

struct ClangMessage {
  Place place;  // the session owns its file's name
  std::string kind, text;
  bool system_header;
  size_t offset;  // in the main file's text; npos: the message is about another file
};

class ClangSession {
 public:
  // `arguments` are words for `clang -cc1`. `contents`: text to use instead of the file's; nullptr:
  // the file is read.
  ClangSession(std::vector<std::string> arguments, const std::string& file,
               const std::string& standard, const std::string* contents,
               const std::string& language);
  ~ClangSession();

  // Creates the preprocessor. Returns false if the file cannot be read or the target is unknown.
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
