// SPDX-License-Identifier: BSD-3-Clause
#include "driver/command_line.h"

#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>

namespace nagaya::xmp {
namespace {

using Words = std::set<std::string>;

// Options of the preprocessor whose argument is joined (-DX) or the next word (-D X).
constexpr std::array kPreprocessor = {"-D", "-U", "-I"};
// Options of the preprocessor whose argument is always the next word.
const Words kPreprocessorApart = {"-include", "-imacros", "-isystem", "-iquote", "-idirafter"};
const Words kDependencies = {"-M", "-MM", "-MD", "-MMD", "-MP", "-MG"};
const Words kDependenciesApart = {"-MF", "-MT", "-MQ"};
// Other options whose argument is the next word.
const Words kApart = {"-T", "-b", "-arch",   "-Xlinker",  "-isysroot",  "-iwithprefix",
                      "-u", "-B", "-mllvm",  "-iprefix",  "--sysroot",  "-dumpbase-ext",
                      "-z", "-V", "-Xclang", "-wrapper",  "-dumpbase",  "-Xpreprocessor",
                      "-e", "-G", "--param", "-dumpdir",  "-framework", "-iwithprefixbefore",
                      "-A", "-R", "-target", "-aux-info", "-Xassembler"};
const std::map<std::string, std::string> kShortNames = {
    {"--assemble", "-S"},      {"--compile", "-c"},           {"--define-macro", "-D"},
    {"--imacros", "-imacros"}, {"--include", "-include"},     {"--include-directory", "-I"},
    {"--language", "-x"},      {"--library-directory", "-L"}, {"--output", "-o"},
    {"--prefix", "-B"},        {"--preprocess", "-E"},        {"--undefine-macro", "-U"}};
constexpr int kNestedFilesMax = 100;
const Words kQuestions = {"-###",       "-dumpmachine",     "-dumpversion",
                          "-dumpspecs", "-dumpfullversion", "--target-help"};

std::vector<std::string> words_in(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read the words in " + path);
  std::vector<std::string> words;
  std::string word;
  bool in_word = false;
  char quote = 0;
  for (char c = 0; file.get(c);) {
    if (c == '\\' && file.get(c)) {
      word += c;
      in_word = true;
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? 0 : c;
      in_word = true;
    } else if (quote == 0 && std::isspace(static_cast<unsigned char>(c)) != 0) {
      if (in_word) words.push_back(word);
      word.clear();
      in_word = false;
    } else {
      word += c;
      in_word = true;
    }
  }
  if (in_word) words.push_back(word);
  return words;
}

// Returns the word with an option's long name replaced by its short name: --include=FILE becomes
// -include FILE.
std::vector<std::string> with_short_names(const std::string& word) {
  const size_t equals = word.find('=');
  const auto found = kShortNames.find(word.substr(0, equals));
  if (found == kShortNames.end()) return {word};
  if (equals == std::string::npos) return {found->second};
  return {found->second, word.substr(equals + 1)};
}

// Returns the preprocessor's words in a -Wp option: -Wp,-MMD,FILE gives -MMD -MF FILE.
std::vector<std::string> preprocessor_words(const std::string& word) {
  std::vector<std::string> result;
  std::istringstream parts(word.substr(std::strlen("-Wp,")));
  for (std::string part, before; std::getline(parts, part, ','); before = part) {
    if (before == "-MD" || before == "-MMD") result.push_back("-MF");
    result.push_back(part);
  }
  return result;
}

void expand(const std::vector<std::string>& words, int depth, std::vector<std::string>& result) {
  for (const std::string& word : words) {
    if (word.size() > 1 && word[0] == '@' && std::filesystem::exists(word.substr(1))) {
      if (depth == kNestedFilesMax)
        throw std::runtime_error("the files of words are nested too deeply: " + word);
      expand(words_in(word.substr(1)), depth + 1, result);
      continue;
    }
    const std::vector<std::string> more =
        word.starts_with("-Wp,") ? preprocessor_words(word) : with_short_names(word);
    result.insert(result.end(), more.begin(), more.end());
  }
}

class Sorter {
 public:
  CommandLine sort(const std::vector<std::string>& words) {
    for (at_ = 0, words_ = &words; at_ < words.size(); ++at_) take(words[at_]);
    return std::move(line_);
  }

 private:
  const std::string& argument(const std::string& word) {
    if (at_ + 1 >= words_->size()) throw std::runtime_error(word + " needs an argument");
    return (*words_)[++at_];
  }

  void keep(const std::vector<std::string>& words) {
    line_.words.insert(line_.words.end(), words.begin(), words.end());
  }
  void keep(const std::vector<std::string>& words, std::vector<std::string>& list) {
    keep(words);
    list.insert(list.end(), words.begin(), words.end());
  }
  // Keeps an option whose argument is joined (-MFFILE) or the next word, and returns the argument.
  std::string keep_with_argument(const std::string& word, const std::string& option) {
    if (word == option) {
      keep({word, argument(word)});
      return line_.words.back();
    }
    keep({word});
    return word.substr(option.size());
  }

  void take(const std::string& word) {
    if (word.size() < 2 || word[0] != '-')
      input(word);
    else if (!own(word) && !result(word) && !preprocessor(word) && !linker(word))
      flag(word);
  }

  void input(const std::string& word) {
    const std::string extension = std::filesystem::path(word).extension();
    const bool c = language_.empty() || language_ == "none"
                       ? extension == ".c" || extension == ".i"
                       : language_ == "c" || language_ == "cpp-output";
    const bool linked =
        (language_.empty() || language_ == "none") &&
        (extension == ".o" || extension == ".a" || extension == ".so" || extension == ".lo");
    line_.inputs.push_back({line_.words.size(), c, !linked, language_});
    keep({word});
  }

  bool own(const std::string& word) {
    if (word.starts_with("--cc="))
      line_.cc = word.substr(5);
    else if (word == "--check")
      line_.check = true;
    else if (word == "--emit-c")
      line_.emit_c = true;
    else if (word == "--help")
      line_.help = true;
    else if (word == "--version")
      line_.version = true;
    else
      return false;
    return true;
  }

  bool result(const std::string& word) {
    if (word.starts_with("-o") && word.find('=') == std::string::npos) {
      line_.output = keep_with_argument(word, "-o");
    } else if (word == "-c" || word == "-S" || word == "-E") {
      line_.result = word == "-c"   ? CommandLine::kObject
                     : word == "-S" ? CommandLine::kAssembly
                                    : CommandLine::kPreprocessed;
      keep({word});
    } else if (word == "-M" || word == "-MM") {
      line_.result = CommandLine::kPreprocessed;
      keep({word}, line_.dependencies);
    } else if (kDependencies.count(word) != 0) {
      keep({word}, line_.dependencies);
    } else if (const std::string name = word.substr(0, 3); kDependenciesApart.count(name) != 0) {
      line_.dependencies.insert(line_.dependencies.end(), {name, keep_with_argument(word, name)});
    } else if (kQuestions.count(word) != 0 || word.starts_with("-print-") ||
               word.starts_with("--print-")) {
      line_.result = CommandLine::kOther;
      keep({word});
    } else {
      return false;
    }
    return true;
  }

  bool preprocessor(const std::string& word) {
    for (const std::string prefix : kPreprocessor) {
      if (!word.starts_with(prefix)) continue;
      keep(word == prefix ? std::vector{word, argument(word)} : std::vector{word},
           line_.preprocessor);
      return true;
    }
    for (const std::string& prefix : kPreprocessorApart) {
      if (!word.starts_with(prefix) || word.starts_with("-isysroot")) continue;
      // clang -cc1 takes the argument as the next word only.
      line_.preprocessor.insert(line_.preprocessor.end(),
                                {prefix, keep_with_argument(word, prefix)});
      return true;
    }
    return false;
  }

  bool linker(const std::string& word) {
    if (word.starts_with("-L"))
      line_.library_folders.push_back(keep_with_argument(word, "-L"));
    else if (word.starts_with("-l"))
      keep_with_argument(word, "-l");
    else if (word.starts_with("-Wl,"))
      keep({word});
    else
      return false;
    return true;
  }

  void flag(const std::string& word) {
    if (word == "-x" || word.starts_with("-x")) {
      language_ = word == "-x" ? argument(word) : word.substr(2);
      keep({"-x", language_});
    } else if (kApart.count(word) != 0) {
      keep({word, argument(word)}, line_.flags);
    } else {
      if (word.starts_with("-std=")) line_.standard = word.substr(5);
      if (word == "-ansi") line_.standard = "c89";
      keep({word}, line_.flags);
    }
  }

  CommandLine line_;
  const std::vector<std::string>* words_ = nullptr;
  size_t at_ = 0;
  std::string language_;
};

}  // namespace

CommandLine parse_command_line(std::vector<std::string> words) {
  std::vector<std::string> all;
  expand(words, 0, all);
  return Sorter().sort(all);
}

}  // namespace nagaya::xmp
