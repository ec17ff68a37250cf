// SPDX-License-Identifier: BSD-3-Clause
#include "clang_session.h"

#include <clang/Basic/Diagnostic.h>
#include <clang/Basic/DiagnosticOptions.h>
#include <clang/Basic/TargetInfo.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <llvm/Support/MemoryBuffer.h>

namespace nagaya::xmp {

class ClangSession::Collector : public clang::DiagnosticConsumer {
 public:
  explicit Collector(ClangSession& session) : session_(session) {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level,
                        const clang::Diagnostic& diagnostic) override {
    DiagnosticConsumer::HandleDiagnostic(level, diagnostic);
    const bool is_error = level >= clang::DiagnosticsEngine::Error;
    llvm::SmallString<128> text;
    diagnostic.FormatDiagnostic(text);
    ClangMessage message{{},
                         is_error                                     ? "error"
                         : level == clang::DiagnosticsEngine::Warning ? "warning"
                                                                      : "note",
                         text.str().str(),
                         false,
                         std::string::npos};
    if (diagnostic.hasSourceManager() && diagnostic.getLocation().isValid()) {
      const clang::SourceManager& sources = diagnostic.getSourceManager();
      const clang::SourceLocation place = sources.getFileLoc(diagnostic.getLocation());
      message.system_header = sources.isInSystemHeader(place);
      if (sources.getFileID(place) == sources.getMainFileID())
        message.offset = sources.getFileOffset(place);
      const clang::PresumedLoc user = sources.getPresumedLoc(place);
      if (user.isValid()) {
        session_.files_.push_back(user.getFilename());
        message.place = {session_.files_.back(), user.getLine(), user.getColumn()};
      }
    }
    if (is_error && !message.system_header) session_.failed_ = true;
    session_.messages_.push_back(std::move(message));
  }

 private:
  ClangSession& session_;
};

ClangSession::ClangSession(std::vector<std::string> arguments, const std::string& file,
                           const std::string& standard, const std::string* contents,
                           const std::string& language)
    : compiler_(std::make_unique<clang::CompilerInstance>()),
      collector_(std::make_unique<Collector>(*this)),
      file_(file),
      contents_(contents) {
  arguments.insert(arguments.begin(), {"-std=" + standard, "-ferror-limit", "0", "-x", language});
  arguments.push_back(file);
  std::vector<const char*> words;
  for (const std::string& argument : arguments) words.push_back(argument.c_str());
  compiler_->createDiagnostics(collector_.get(), /*ShouldOwnClient=*/false);
  if (!clang::CompilerInvocation::CreateFromArgs(compiler_->getInvocation(), words,
                                                 compiler_->getDiagnostics()))
    failed_ = true;
  clang::ProcessWarningOptions(compiler_->getDiagnostics(), compiler_->getDiagnosticOpts());
}

ClangSession::~ClangSession() {
  end();
}

bool ClangSession::begin() {
  if (failed_ || !compiler_->createTarget()) return false;
  compiler_->createFileManager();
  compiler_->createSourceManager(compiler_->getFileManager());
  compiler_->createPreprocessor(clang::TU_Complete);
  clang::FrontendInputFile input = compiler_->getFrontendOpts().Inputs[0];
  if (contents_ != nullptr)
    input = clang::FrontendInputFile(llvm::MemoryBufferRef(*contents_, file_), input.getKind());
  if (!compiler_->InitializeSourceManager(input)) return false;
  collector_->BeginSourceFile(compiler_->getLangOpts(), &compiler_->getPreprocessor());
  begun_ = true;
  return true;
}

void ClangSession::end() {
  if (!begun_) return;
  begun_ = false;
  compiler_->getPreprocessor().EndSourceFile();
  collector_->EndSourceFile();
}

}  // namespace nagaya::xmp
