// SPDX-License-Identifier: BSD-3-Clause
// token_mutator.h - mutations of a source text by tokens and lines. libFuzzer's own, by bytes,
// seldom leave a text that the first stage accepts.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <random>
#include <sstream>
#include <string>
#include <vector>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t bytes, size_t bytes_max);

namespace nagaya::fuzz {

// Each line ends with its newline.
inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    lines.push_back(text.substr(at, end - at));
    at = end;
  }
  return lines;
}

class TokenMutator {
 public:
  // `words` are put in among tokens, `lines` among lines.
  TokenMutator(std::vector<std::string> words, std::vector<std::string> lines)
      : words_(std::move(words)), lines_(std::move(lines)) {}

  // Mutates as LLVMFuzzerCustomMutator() has to.
  size_t mutate(uint8_t* data, size_t bytes, size_t bytes_max, unsigned seed) {
    random_.seed(seed);
    if (below(8) == 0) return LLVMFuzzerMutate(data, bytes, bytes_max);
    std::string text(reinterpret_cast<const char*>(data), bytes);
    for (size_t edits = 1 + below(3); edits != 0; --edits) {
      const bool by_lines = !lines_.empty() && below(3) == 0;
      std::vector<std::string> parts = by_lines ? lines_of(text) : tokens_of(text);
      edit(parts, by_lines ? lines_ : words_);
      text.clear();
      for (const std::string& part : parts) text += part;
    }
    const size_t kept = std::min(text.size(), bytes_max);
    std::memcpy(data, text.data(), kept);
    return kept;
  }

 private:
  size_t below(size_t end) { return random_() % end; }

  void edit(std::vector<std::string>& parts, const std::vector<std::string>& fresh) {
    if (parts.empty()) parts.emplace_back();
    const size_t at = below(parts.size()), other = below(parts.size());
    const auto place = parts.begin() + static_cast<ptrdiff_t>(at);
    switch (below(6)) {
      case 0:
        parts[at] = fresh[below(fresh.size())];
        break;
      case 1:
        parts.insert(place, fresh[below(fresh.size())]);
        break;
      case 2:
        parts.erase(place);
        break;
      case 3:
        std::swap(parts[at], parts[other]);
        break;
      case 4:
        parts[at] = parts[other];
        break;
      default: {
        const std::string copy = parts[other];
        parts.insert(place, copy);
      }
    }
  }

  // A word or number, with the space behind it, or one other character.
  static std::vector<std::string> tokens_of(const std::string& text) {
    const auto is_word = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
    };
    std::vector<std::string> tokens;
    for (size_t at = 0; at < text.size();) {
      size_t end = at + 1;
      if (is_word(text[at]))
        while (end < text.size() && is_word(text[end])) ++end;
      while (end < text.size() && text[end] == ' ') ++end;
      tokens.push_back(text.substr(at, end - at));
      at = end;
    }
    return tokens;
  }

  std::vector<std::string> words_, lines_;
  std::minstd_rand random_;
};

// Splits at spaces; each word gets one behind it.
inline std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word + ' ');
  return words;
}

// Words of directives and clauses, punctuators, and names that the corpora use.
inline std::vector<std::string> words_of_xmp() {
  return words_of(R"(
nodes template distribute align shadow template_fix loop reflect wait_async barrier bcast reduction
task tasks gmove array reduce_shadow coarray image post wait lock unlock static_desc
on onto with in out async(1) from nocomm width( orthogonal /periodic/ /unbound/ expand( margin(
peel_and_wait(1, acquired_lock( stat( block cyclic gblock( firstmax: +: max:
( ) [ ] { } : :: , ; * / + - = += & . -> 0 1 2 N n i j p q t s u w x
[:] :[*] :[1] [0:n:2] sizeof int double static volatile const)");
}

}  // namespace nagaya::fuzz
