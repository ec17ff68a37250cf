// SPDX-License-Identifier: BSD-3-Clause
#include "preprocess/preprocess.h"

#include <clang/Basic/TargetInfo.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Lex/PPCallbacks.h>
#include <clang/Lex/Pragma.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "clang_session.h"
#include "preprocess/printer.h"

namespace nagaya::xmp {
namespace {

class XmpPragma : public clang::PragmaHandler {
 public:
  explicit XmpPragma(Printer& printer) : PragmaHandler("xmp"), printer_(printer) {}
  void HandlePragma(clang::Preprocessor&, clang::PragmaIntroducer, clang::Token& first) override {
    printer_.take_directive(first.getLocation());
  }

 private:
  Printer& printer_;
};

// Keeps, in one name space of pragmas, every pragma that Clang's preprocessor does not know.
class OtherPragma : public clang::PragmaHandler {
 public:
  OtherPragma(Printer& printer, std::string prefix)
      : PragmaHandler(llvm::StringRef()), printer_(printer), prefix_(std::move(prefix)) {}
  void HandlePragma(clang::Preprocessor& preprocessor, clang::PragmaIntroducer introducer,
                    clang::Token& first) override {
    static const std::set<std::string> kExpanded = {"omp", "acc", "pack", "redefine_extname"};
    const bool expand = prefix_.empty() && kExpanded.count(preprocessor.getSpelling(first)) != 0;
    printer_.keep_pragma(prefix_, introducer.Loc, first, expand);
  }

 private:
  Printer& printer_;
  std::string prefix_;
};

class Callbacks : public clang::PPCallbacks {
 public:
  Callbacks(Printer& printer, Unit& unit, clang::SourceManager& sources)
      : printer_(printer), unit_(unit), sources_(sources) {}

  // Keeps settings of warnings here: PragmaDiagnostic() reports only groups that Clang knows, and
  // the compiler behind has others.
  void PragmaDirective(clang::SourceLocation place, clang::PragmaIntroducerKind kind) override {
    static const std::regex kSetting(
        R"(#\s*pragma\s+(GCC|clang)\s+diagnostic\s+(ignored|warning|error)\s+("[^"]*"))");
    const char* const begin = sources_.getCharacterData(place);
    const char* const end = begin + std::strcspn(begin, "\r\n");
    std::cmatch setting;
    is_kept_ =
        kind == clang::PIK_HashPragma &&
        std::regex_search(begin, end, setting, kSetting, std::regex_constants::match_continuous);
    if (is_kept_)
      printer_.keep_line(place, "#pragma " + setting.str(1) + " diagnostic " + setting.str(2) +
                                    " " + setting.str(3));
  }
  // Keeps pragmas that Clang itself has obeyed, so that the compiler behind obeys them, too.
  void PragmaDiagnosticPush(clang::SourceLocation place, llvm::StringRef space) override {
    printer_.keep_line(place, "#pragma " + space.str() + " diagnostic push");
  }
  void PragmaDiagnosticPop(clang::SourceLocation place, llvm::StringRef space) override {
    printer_.keep_line(place, "#pragma " + space.str() + " diagnostic pop");
  }
  void PragmaDiagnostic(clang::SourceLocation place, llvm::StringRef space,
                        clang::diag::Severity severity, llvm::StringRef option) override {
    if (is_kept_) return;
    const char* word = severity == clang::diag::Severity::Ignored   ? "ignored"
                       : severity == clang::diag::Severity::Warning ? "warning"
                                                                    : "error";
    printer_.keep_line(
        place, "#pragma " + space.str() + " diagnostic " + word + " \"" + option.str() + "\"");
  }
  void FileChanged(clang::SourceLocation place, FileChangeReason reason,
                   clang::SrcMgr::CharacteristicKind, clang::FileID) override {
    if (reason != EnterFile) return;
    const std::filesystem::path file = sources_.getFilename(place).str();
    if (file.filename() == "xmp.h" && file.parent_path().filename() == "xmp")
      unit_.includes_xmp_h = true;
  }

 private:
  Printer& printer_;
  Unit& unit_;
  clang::SourceManager& sources_;
  bool is_kept_ = false;  // PragmaDirective() has kept the pragma that is being read
};

std::vector<std::string> arguments_of(const PreprocessorInput& input) {
  std::vector<std::string> words = {
      "-E", "-undef", "-nostdsysteminc", "-nobuiltininc", "-Wno-everything", "-W#warnings"};
  const std::vector<std::string> target = input.view.target_words();
  words.insert(words.end(), target.begin(), target.end());
  words.insert(words.end(), input.arguments.begin(), input.arguments.end());
  for (const std::string& folder : input.view.folders)
    words.insert(words.end(), {"-internal-isystem", folder});
  return words;
}

// Whether a source that Clang has not opened has the letters xmp in it.
bool mentions_xmp(const PreprocessorInput& input) {
  if (input.contents != nullptr) return input.contents->find("xmp") != std::string::npos;
  std::ifstream file(input.source, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find("xmp") != std::string::npos;
}

// Whether the unit uses XMP or may do so: one that was not read to its end may have directives
// behind the error.
bool may_use_xmp(const Unit& unit, clang::SourceManager& sources) {
  const llvm::StringRef text = sources.getBufferData(sources.getMainFileID());
  return unit.uses_xmp() || (unit.failed && text.contains("xmp"));
}

}  // namespace

std::vector<std::string> CompilerView::target_words() const {
  std::vector<std::string> words = {"-triple", triple};
  // The compiler behind has unsigned char: clang -cc1 spells that -fno-signed-char.
  if (macros.find("#define __CHAR_UNSIGNED__") != std::string::npos)
    words.push_back("-fno-signed-char");
  return words;
}

Unit preprocess(const PreprocessorInput& input, Diagnostics& diagnostics) {
  Unit unit;
  ClangSession session(arguments_of(input), input.source, input.standard, input.contents, "c");
  if (!session.begin()) {
    unit.failed = true;
    if (mentions_xmp(input))
      for (const ClangMessage& message : session.messages())
        diagnostics.plain({}, message.kind, message.text);
    return unit;
  }
  clang::Preprocessor& preprocessor = session.preprocessor();
  preprocessor.setPredefines(input.view.macros + preprocessor.getPredefines());
  Printer printer(preprocessor, unit);
  preprocessor.addPPCallbacks(
      std::make_unique<Callbacks>(printer, unit, preprocessor.getSourceManager()));
  // The preprocessor owns its handlers and deletes them.
  preprocessor.AddPragmaHandler(new XmpPragma(printer));
  preprocessor.AddPragmaHandler(new OtherPragma(printer, ""));
  for (const std::string space : {"GCC", "clang", "STDC"})
    preprocessor.AddPragmaHandler(space, new OtherPragma(printer, space + " "));

  preprocessor.EnterMainSourceFile();
  clang::Token token;
  do preprocessor.Lex(token);
  while (token.isNot(clang::tok::eof) && printer.print(token));
  printer.finish();
  session.end();
  unit.failed = session.failed();
  // The session owns the file names in its messages, so the unit keeps copies.
  std::vector<ClangMessage> messages = session.messages();
  for (ClangMessage& message : messages)
    message.place.file = unit.printed.keep(std::string(message.place.file));
  if (may_use_xmp(unit, preprocessor.getSourceManager()))
    for (const ClangMessage& message : messages)
      diagnostics.plain(message.place, message.kind, message.text);
  return unit;
}

}  // namespace nagaya::xmp
