// SPDX-License-Identifier: BSD-3-Clause
#include "syntax/syntax.h"

#include <clang/AST/ASTConsumer.h>
#include <clang/AST/ASTContext.h>
#include <clang/Basic/Builtins.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Parse/ParseAST.h>
#include <clang/Sema/Sema.h>

#include "clang_session.h"
#include "syntax/coindexes.h"
#include "syntax/collector.h"

namespace nagaya::xmp {
namespace {

// Returns Clang's arguments. They define types that gcc knows and Clang does not as types of the
// same width, which is all that counts here. They make undeclared functions of builtins that accept
// more in gcc than in Clang, e.g. those of gcc's <stdatomic.h>. Programs may use names of the C
// library for their variables, as with gcc.
std::vector<std::string> arguments() {
  return {"-fsyntax-only",
          "-w",
          "-fno-builtin",
          "-D__atomic_load=nagaya_atomic_load",
          "-D__atomic_store=nagaya_atomic_store",
          "-D__atomic_exchange=nagaya_atomic_exchange",
          "-D__atomic_compare_exchange=nagaya_atomic_compare_exchange",
          "-D__atomic_fetch_add=nagaya_atomic_fetch_add",
          "-D__atomic_fetch_sub=nagaya_atomic_fetch_sub",
          "-D__atomic_fetch_or=nagaya_atomic_fetch_or",
          "-D__atomic_fetch_xor=nagaya_atomic_fetch_xor",
          "-D__atomic_fetch_and=nagaya_atomic_fetch_and",
          "-D__builtin_cpu_is=nagaya_cpu_is",
          "-D__builtin_cpu_supports=nagaya_cpu_supports",
          "-D_Float16=__fp16",
          "-D_Float32=float",
          "-D_Float64=double",
          "-D_Float32x=double",
          "-D_Float64x=long double",
          "-D_Float128=__float128",
          "-Wno-implicit-function-declaration",
          "-Wno-implicit-int",
          "-Wno-int-conversion",
          "-Wno-return-type"};
}

// Returns the first section of the statement up to `offset`; nullptr: it has none.
const Section* section_before(const Unit& unit, size_t offset) {
  const std::string& text = unit.printed.text();
  for (const Section& section : unit.sections)
    if (section.open < offset && text.find(';', section.open) >= offset) return &section;
  return nullptr;
}

}  // namespace

std::optional<Facts> parse_c(const Unit& unit, const std::string& standard,
                             const std::vector<std::string>& target_words,
                             Diagnostics& diagnostics) {
  const PrintedText& printed = unit.printed;
  std::vector<std::string> words = arguments();
  words.insert(words.end(), target_words.begin(), target_words.end());
  ClangSession session(words, "unit.c", standard, &printed.text(), "cpp-output");
  std::optional<Facts> facts;
  if (session.begin()) {
    clang::CompilerInstance& compiler = session.compiler();
    clang::Preprocessor& preprocessor = session.preprocessor();
    preprocessor.getBuiltinInfo().initializeBuiltins(preprocessor.getIdentifierTable(),
                                                     preprocessor.getLangOpts());
    compiler.createASTContext();
    compiler.setASTConsumer(std::make_unique<clang::ASTConsumer>());
    compiler.createSema(clang::TU_Complete, nullptr);
    clang::ParseAST(compiler.getSema());
    if (!session.failed()) {
      facts = collect_facts(compiler.getASTContext());
      collect_coindexes(compiler.getASTContext(), unit.coindexes, *facts);
    }
  }
  session.end();
  bool in_header = false;
  for (const ClangMessage& message : session.messages()) {
    // A note belongs to the message before it, so it counts as a message in the same header.
    if (message.kind != "note") in_header = message.system_header;
    if (in_header) continue;
    const Section* const section = message.text.ends_with("is not assignable")
                                       ? section_before(unit, message.offset)
                                       : nullptr;
    if (section != nullptr) {
      diagnostics.error({printed.place(section->open),
                         "this section has too few subscripts: write one for each dimension"});
      continue;
    }
    const Place place =
        message.offset == std::string::npos ? Place{} : printed.place(message.offset);
    diagnostics.plain(place, message.kind, message.text);
  }
  return facts;
}

}  // namespace nagaya::xmp
