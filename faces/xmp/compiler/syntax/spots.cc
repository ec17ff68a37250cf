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
  if (llvm::isa<clang::IfStmt, clang::ForStmt, clang::WhileStmt, clang::SwitchStmt,
                clang::LabelStmt, clang::SwitchCase, clang::AttributedStmt>(statement)) {
    // Such a statement ends with its last child, a statement.
    const clang::Stmt* last = nullptr;
    for (const clang::Stmt* child : statement->children())
      if (child != nullptr) last = child;
    return {begin, this->statement(last).end};
  }
  const size_t end = behind(statement->getEndLoc());
  if (llvm::isa<clang::CompoundStmt, clang::NullStmt, clang::DeclStmt>(statement))
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
