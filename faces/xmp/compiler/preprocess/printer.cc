// SPDX-License-Identifier: BSD-3-Clause
#include "preprocess/printer.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

namespace nagaya::xmp {
namespace {

// Up to this many lines ahead, empty lines are written instead of a line marker, which is longer.
constexpr unsigned kEmptyLinesMax = 8;

constexpr std::array kOfALoop = {"#pragma omp",         "#pragma GCC ivdep", "#pragma GCC unroll",
                                 "#pragma clang loop",  "#pragma unroll",    "#pragma nounroll",
                                 "#pragma GCC novector"};

// Text in place of xmp_desc_of(name) until that is translated.
constexpr const char* kNullPointer = "((void *)0)";

nagaya::xmp::Token::Kind kind_of(const clang::Token& token) {
  if (token.isAnyIdentifier() || token.getIdentifierInfo() != nullptr) return Token::kIdentifier;
  if (token.is(clang::tok::numeric_constant) || token.is(clang::tok::char_constant))
    return Token::kNumber;
  return clang::tok::isStringLiteral(token.getKind()) ? Token::kString : Token::kPunctuator;
}

}  // namespace

Printer::Printer(clang::Preprocessor& preprocessor, Unit& unit)
    : preprocessor_(preprocessor),
      sources_(preprocessor.getSourceManager()),
      concatenation_(preprocessor),
      unit_(unit),
      sections_(unit) {
  previous_.startToken();
  before_previous_.startToken();
}

// Begins a line of text that counts as the user's line of `place`. Inside a macro that is the line
// of the macro's use.
void Printer::begin_line(clang::SourceLocation place) {
  const clang::PresumedLoc user = sources_.getPresumedLoc(sources_.getExpansionLoc(place));
  if (user.isInvalid()) return;
  const unsigned line = user.getLine();
  const bool same_file = line_ != 0 && file_ == user.getFilename();
  if (same_file && line == line_) return;
  if (same_file && line > line_ && line - line_ <= kEmptyLinesMax) {
    unit_.printed.append(std::string(line - line_, '\n'));
  } else {
    file_ = user.getFilename();
    std::string marker = unit_.printed.line_marker({file_, line, 1});
    if (sources_.isInSystemHeader(sources_.getExpansionLoc(place)))
      marker.insert(marker.size() - 1, " 3");
    unit_.printed.append((line_empty_ ? "" : "\n") + marker);
  }
  line_ = line;
  line_empty_ = true;
}

Place Printer::place_of(clang::SourceLocation location) {
  const clang::PresumedLoc user = sources_.getPresumedLoc(sources_.getFileLoc(location));
  if (user.isInvalid()) return {};
  return {unit_.printed.keep(user.getFilename()), user.getLine(), user.getColumn()};
}

// Begins a token's text: its line, space and place.
void Printer::begin_token(const clang::Token& token) {
  begin_line(token.getLocation());
  if (line_empty_) {
    // Indents the line as the user has it, so that the translation is readable.
    const clang::SourceLocation place = sources_.getExpansionLoc(token.getLocation());
    const unsigned column = sources_.getPresumedColumnNumber(place);
    if (column > 1) unit_.printed.append(std::string(column - 1, ' '));
  } else if (token.hasLeadingSpace() || token.isAtStartOfLine() ||
             concatenation_.AvoidConcat(before_previous_, previous_, token)) {
    unit_.printed.append(" ");
  }
  const Place place = place_of(token.getLocation());
  unit_.printed.mark(std::string(place.file), place.line, place.column,
                     sources_.isInSystemHeader(token.getLocation()));
  line_empty_ = false;
  before_previous_ = previous_;
  previous_ = token;
}

void Printer::put(const clang::Token& token, const std::string& text) {
  // A `;` stands there behind the parameters' declarations in the style before 1989.
  const bool is_body = token.is(clang::tok::l_brace) && postfix_.at_file_scope() &&
                       previous_.isOneOf(clang::tok::r_paren, clang::tok::semi);
  const size_t head = unit_.printed.size();
  begin_token(token);
  const bool is_operand =
      clang::tok::isLiteral(token.getKind()) || token.is(clang::tok::identifier);
  postfix_.see(text, is_operand, unit_.printed.size());
  if (token.is(clang::tok::identifier) && postfix_.at_file_scope()) name_ = converted(token);
  if (sources_.isInSystemHeader(token.getLocation())) return unit_.printed.append(text);
  if (text.starts_with("xmp_sync_image") || text == "xmp_sync_all")
    unit_.synchronises_images = true;
  unit_.printed.append(sections_.see(text, place_of(token.getLocation())));
  if (is_body) take_into_body(head);
}

void Printer::take_into_body(size_t head) {
  for (RawDirective& directive : unit_.directives)
    if (directive.offset == head && !directive.tokens.empty() &&
        (directive.tokens[0].text == "align" || directive.tokens[0].text == "shadow"))
      directive.offset = unit_.printed.size();
}

bool Printer::print(const clang::Token& token) {
  if (token.isAnnotation()) return true;
  if (!array_.tokens.empty()) {
    keep_for_array(token);
    return true;
  }
  const std::string text = preprocessor_.getSpelling(token);
  if (text == "xmp_desc_of") return print_descriptor_of(token);
  if (token.is(clang::tok::colon) && !sources_.isInSystemHeader(token.getLocation()) &&
      opens_image(token))
    return postfix_.in_function() ? print_image(token) : take_codimensions(token);
  put(token, text);
  return true;
}

bool Printer::is_before(const clang::Token& token, char character, bool* twice) const {
  const char* at = sources_.getCharacterData(sources_.getSpellingLoc(token.getLocation()));
  const auto skip = [&] {
    while (std::isspace(static_cast<unsigned char>(*at)) != 0 || *at == '\\') ++at;
  };
  at += token.getLength();
  skip();
  if (*at != character) return false;
  ++at;
  skip();
  if (twice != nullptr) *twice = *at == character;
  return true;
}

// `:[[` begins an attribute behind a label.
bool Printer::opens_image(const clang::Token& colon) const {
  bool is_attribute = false;
  return !sections_.ignores_colons() && is_before(colon, '[', &is_attribute) && !is_attribute;
}

bool Printer::take_codimensions(const clang::Token& colon) {
  CoarrayDeclaration declared{name_, unit_.printed.size(), place_of(colon.getLocation()), {}};
  clang::Token token = colon;
  while (is_before(token, '[')) {
    preprocessor_.Lex(token);
    declared.codimensions.emplace_back();
    for (int depth = 1; depth > 0;) {
      preprocessor_.Lex(token);
      if (token.is(clang::tok::eof)) return false;
      depth += token.is(clang::tok::l_square) - token.is(clang::tok::r_square);
      if (depth > 0) declared.codimensions.back().push_back(converted(token));
    }
  }
  if (!postfix_.at_file_scope())
    complaints_.push_back({declared.place, "a coarray is a variable at file scope"});
  unit_.coarrays.push_back(std::move(declared));
  return true;
}

bool Printer::print_image(const clang::Token& colon) {
  const Place place = place_of(colon.getLocation());
  const size_t begin = postfix_.start();
  if (begin == PostfixStart::kNone) {
    complaints_.push_back({place, "':[' stands behind a coarray: name[index]:[image]"});
    return true;
  }
  const std::string opening = "(*(&";
  unit_.insert(begin, opening);
  Coindex coindex{{}, {begin + opening.size(), unit_.printed.size()}, {}, place};
  clang::Token token = colon;
  while (is_before(token, '[')) {
    preprocessor_.Lex(token);
    unit_.printed.mark(std::string(place.file), place.line, place.column, false);
    unit_.printed.append(" + (");
    const size_t image = unit_.printed.size();
    for (int depth = 1;;) {
      preprocessor_.Lex(token);
      if (token.is(clang::tok::eof)) return false;
      depth += token.is(clang::tok::l_square) - token.is(clang::tok::r_square);
      if (depth == 0) break;
      if (coindex.images.empty() && unit_.printed.size() == image && token.is(clang::tok::star) &&
          is_before(token, ']'))
        complaints_.push_back({place, "a coarray is a variable at file scope"});
      if (!print(token)) return false;
    }
    coindex.images.push_back({image, unit_.printed.size()});
    unit_.printed.append(")");
  }
  unit_.printed.append("))");
  coindex.whole = {begin, unit_.printed.size()};
  postfix_.replaced(begin);
  unit_.coindexes.push_back(std::move(coindex));
  return true;
}

bool Printer::print_descriptor_of(const clang::Token& word) {
  std::vector<clang::Token> behind(3);  // (name)
  for (size_t i = 0; i < behind.size(); ++i) {
    preprocessor_.Lex(behind[i]);
    const bool fits = i == 0   ? behind[i].is(clang::tok::l_paren)
                      : i == 1 ? behind[i].isAnyIdentifier()
                               : behind[i].is(clang::tok::r_paren);
    if (fits) continue;
    // Malformed: writes the user's tokens, so that Clang reports the error.
    put(word, "xmp_desc_of");
    for (size_t k = 0; k < i; ++k) put(behind[k], preprocessor_.getSpelling(behind[k]));
    return behind[i].isNot(clang::tok::eof) && print(behind[i]);
  }
  put(word, kNullPointer);
  const size_t end = unit_.printed.size();
  unit_.descriptors.push_back(
      {end - std::string_view(kNullPointer).size(), end, converted(behind[1])});
  return true;
}

Token Printer::converted(const clang::Token& token) {
  return {kind_of(token), preprocessor_.getSpelling(token), place_of(token.getLocation())};
}

void Printer::keep_line(clang::SourceLocation place, const std::string& line) {
  begin_line(place);
  if (!line_empty_) unit_.printed.append("\n");
  const Place user = place_of(place);
  unit_.printed.mark(std::string(user.file), user.line, user.column, false);
  unit_.printed.append(line + "\n");
  line_ = 0;
  line_empty_ = true;
}

void Printer::keep_pragma(const std::string& prefix, clang::SourceLocation place,
                          clang::Token& first, bool expand) {
  std::string line = "#pragma " + prefix;
  for (clang::Token token = first; token.isNot(clang::tok::eod);) {
    line += (line.back() == ' '        ? ""
             : token.hasLeadingSpace() ? " "
                                       : "") +
            preprocessor_.getSpelling(token);
    if (expand)
      preprocessor_.Lex(token);
    else
      preprocessor_.LexUnexpandedToken(token);
  }
  keep_line(place, line);
  const size_t end = unit_.printed.size();
  unit_.pragmas.push_back({end - line.size() - 1, end, line.starts_with("#pragma omp"),
                           std::any_of(kOfALoop.begin(), kOfALoop.end(), [&](const char* start) {
                             return line.starts_with(start);
                           })});
}

void Printer::take_directive(clang::SourceLocation place) {
  RawDirective directive{unit_.printed.size(), place_of(place), {}};
  clang::Token token;
  for (preprocessor_.Lex(token); token.isNot(clang::tok::eod) && token.isNot(clang::tok::eof);
       preprocessor_.Lex(token))
    directive.tokens.push_back(converted(token));
  if (!directive.tokens.empty() && directive.tokens[0].text == "array")
    array_ = std::move(directive);
  else
    unit_.directives.push_back(std::move(directive));
}

void Printer::keep_for_array(const clang::Token& token) {
  const std::string text = preprocessor_.getSpelling(token);
  array_depth_ += (text == "{" || text == "(") - (text == "}" || text == ")");
  array_statement_.push_back(token);
  // A brace that the statement has not opened ends it, too: the semicolon is missing.
  if (array_depth_ < 0 || (array_depth_ == 0 && text == ";")) print_array();
}

void Printer::print_array() {
  const RawDirective directive = std::exchange(array_, {});
  const std::vector<clang::Token> kept = std::exchange(array_statement_, {});
  array_depth_ = 0;
  std::vector<Token> statement;
  for (const clang::Token& token : kept) statement.push_back(converted(token));
  try {
    const ArrayStatement loops(directive.tokens, statement);
    begin_line(kept.front().getLocation());
    const Place place = place_of(kept.front().getLocation());
    unit_.printed.mark(std::string(place.file), place.line, place.column, false);
    unit_.printed.append("{ ");
    for (const ArrayStatement::Length& length : loops.lengths()) {
      unit_.printed.append(length.before);
      const size_t begin = unit_.printed.size();
      unit_.printed.append(length.size);
      if (length.name != nullptr)
        unit_.lengths.push_back({begin, unit_.printed.size(), *length.name});
      unit_.printed.append(length.after);
    }
    for (const ArrayStatement::Low& low : loops.lows()) {
      unit_.printed.append("const long " + low.variable + " = nagaya_xmp_low_of(");
      const size_t begin = unit_.printed.size();
      unit_.printed.append(kNullPointer);
      unit_.descriptors.push_back({begin, unit_.printed.size(), low.name});
      unit_.printed.append(", " + std::to_string(low.dimension) + "); ");
    }
    unit_.directives.push_back({unit_.printed.size(), directive.pragma, loops.loop_directive()});
    unit_.printed.append(loops.headers());
    for (const ArrayStatement::Word& word : loops.body()) {
      if (word.token != ArrayStatement::Word::kNone) begin_token(kept[word.token]);
      unit_.printed.append(word.text);
    }
    unit_.printed.append(" }");
  } catch (const Complaint& complaint) {
    complaints_.push_back(complaint);
    for (const clang::Token& token : kept) put(token, preprocessor_.getSpelling(token));
  }
}

void Printer::finish() {
  if (!array_.tokens.empty())
    complaints_.push_back({array_.pragma, "expected a statement after 'array'"});

  unit_.printed.append("\n");
  unit_.complaints = complaints_;
  for (const Complaint& complaint : sections_.complaints()) unit_.complaints.push_back(complaint);
}

}  // namespace nagaya::xmp
