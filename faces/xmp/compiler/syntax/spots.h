// SPDX-License-Identifier: BSD-3-Clause
// spots.h - converts locations of Clang's syntax tree to offsets in the printed text.
#pragma once

#include <clang/AST/ASTContext.h>
#include <clang/AST/Expr.h>
#include <clang/AST/Stmt.h>

#include "syntax/facts.h"

namespace nagaya::xmp {

class Spots {
 public:
  explicit Spots(clang::ASTContext& context);

  size_t offset(clang::SourceLocation location) const;
  // Returns the offset behind the token that begins at `location`.
  size_t behind(clang::SourceLocation location) const;
  Range range(clang::SourceRange source) const;
  // Returns the statement's range, including the semicolon that ends it.
  Range statement(const clang::Stmt* statement) const;
  std::string text(const Range& range) const;
  // Returns the offset of the first such character at or behind `from`.
  size_t find(char character, size_t from) const;
  bool in_system_header(clang::SourceLocation location) const;

 private:
  clang::ASTContext& context_;
  const clang::SourceManager& sources_;
  llvm::StringRef text_;
};

}  // namespace nagaya::xmp
