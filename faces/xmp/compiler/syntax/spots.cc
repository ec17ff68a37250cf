// SPDX-License-Identifier: BSD-3-Clause
#include "syntax/spots.h"

#include <clang/Basic/SourceManager.h>
#include <clang/Lex/Lexer.h>

namespace nagaya::xmp {

Spots::Spots(clang::ASTContext& context)
    : context_(context),
      sources_(context.getSourceManager()),
      text_(sources_.getBufferData(sources_.getMainFileID())) {}

size_t Spots::offset(clang::SourceLocation location) const {
  return sources_.getFileOffset(sources_.getFileLoc(location));
}

size_t Spots::behind(clang::SourceLocation location) const {
  const clang::SourceLocation place = sources_.getFileLoc(location);
  return sources_.getFileOffset(place) +
         clang::Lexer::MeasureTokenLength(place, sources_, context_.getLangOpts());
}

Range Spots::range(clang::SourceRange source) const {
  return {offset(source.getBegin()), behind(source.getEnd())};
}

Range Spots::statement(const clang::Stmt* statement) const {
  const size_t begin = offset(statement->getBeginLoc());
  const clang::Stmt* last = nullptr;
  if (const auto* found = llvm::dyn_cast<clang::IfStmt>(statement))
    last = found->getElse() != nullptr ? found->getElse() : found->getThen();
  else if (const auto* found = llvm::dyn_cast<clang::ForStmt>(statement))
    last = found->getBody();
  else if (const auto* found = llvm::dyn_cast<clang::WhileStmt>(statement))
    last = found->getBody();
  else if (const auto* found = llvm::dyn_cast<clang::SwitchStmt>(statement))
    last = found->getBody();
  else if (const auto* found = llvm::dyn_cast<clang::LabelStmt>(statement))
    last = found->getSubStmt();
  else if (const auto* found = llvm::dyn_cast<clang::SwitchCase>(statement))
    last = found->getSubStmt();
  else if (const auto* found = llvm::dyn_cast<clang::AttributedStmt>(statement))
    last = found->getSubStmt();
  if (last != nullptr) return {begin, this->statement(last).end};
  const size_t end = behind(statement->getEndLoc());
  if (llvm::isa<clang::CompoundStmt>(statement) || llvm::isa<clang::NullStmt>(statement) ||
      llvm::isa<clang::DeclStmt>(statement))
    return {begin, end};
  return {begin, find(';', end) + 1};
}

std::string Spots::text(const Range& range) const {
  return text_.slice(range.begin, range.end).str();
}

size_t Spots::find(char character, size_t from) const {
  const size_t found = text_.find(character, from);
  return found == llvm::StringRef::npos ? text_.size() - 1 : found;
}

bool Spots::in_system_header(clang::SourceLocation location) const {
  return sources_.isInSystemHeader(sources_.getFileLoc(location));
}

}  // namespace nagaya::xmp
