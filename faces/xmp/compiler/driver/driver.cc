// SPDX-License-Identifier: BSD-3-Clause
#include "driver/driver.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "diagnostics.h"
#include "driver/compiler_behind.h"
#include "driver/foreign_language.h"
#include "driver/installation.h"
#include "driver/mpi_words.h"
#include "driver/process.h"
#include "unit_translation.h"

namespace nagaya::xmp {
namespace {

namespace fs = std::filesystem;

const char* const kVersionMacro = "-D_XCALABLEMP=201411";

void append(std::vector<std::string>& words, const std::vector<std::string>& more) {
  words.insert(words.end(), more.begin(), more.end());
}

class Driver {
 public:
  explicit Driver(const CommandLine& line) : line_(line), behind_(line.cc) {
    // A compiler or a folder that the user names may be those of another MPI.
    if (!behind_.is_named() && !is_given_mpi()) mpi_ = mpi_words();
  }

  int drive() {
    if (line_.result == CommandLine::kPreprocessed || line_.result == CommandLine::kOther)
      return run(whole_line({}));
    if (!translate_sources()) return 1;
    if (line_.emit_c) return print_translations();
    if (line_.result != CommandLine::kProgram && !translated_.empty()) return compile_one_by_one();
    for (const auto& [position, file] : translated_)
      if (const int status = write_dependencies_of_program(line_.words[position]); status != 0)
        return status;
    return run(whole_line(translated_));
  }

 private:
  // Whether a folder of the command line has mpi.h, as where mpicc has called xmpcc.
  bool is_given_mpi() const {
    return std::ranges::any_of(line_.preprocessor, [](const std::string& word) {
      std::error_code ignored;
      const fs::path folder = word.starts_with("-I") ? word.substr(2) : word;
      return !folder.empty() && fs::exists(folder / "mpi.h", ignored);
    });
  }

  // Writes the translation of each source that uses XMP to a file in the temporary folder.
  bool translate_sources() {
    Diagnostics diagnostics(false, warnings());
    for (const Input& input : line_.inputs) {
      if (is_interrupted()) return false;
      const std::string& source = line_.words[input.position];
      const std::optional<ForeignLanguage> foreign = foreign_language(source, input.language);
      const bool from_input = source == "-" && (input.c_source || foreign);
      if (!from_input && !fs::exists(source)) continue;
      if (!input.c_source && !foreign) continue;
      if (fs::is_fifo(source))
        throw std::runtime_error(source + " is a pipe: write the source to a file, or to " +
                                 "standard input and name it -");
      if (from_input) keep_standard_input();
      if (foreign) {
        refuse_directives(*foreign, source, from_input ? standard_input_ : text_of(source));
        continue;
      }
      const std::optional<std::string> text =
          translate_unit(preprocessor_input(input), diagnostics, line_.check);
      if (!text) continue;
      const fs::path folder = fs::path(folder_.path()) / std::to_string(translated_.size());
      fs::create_directory(folder);
      // Named after the source, because messages of the linker show the name.
      const fs::path file = folder / fs::path(source).filename().replace_extension(".i");
      write(file, *text);
      translated_[input.position] = file;
    }
    return diagnostics.errors() == 0;
  }

  // Copies standard input to a file, because both xmpcc and the compiler behind must read it.
  void keep_standard_input() {
    standard_input_ = std::string(std::istreambuf_iterator<char>(std::cin), {});
    const std::string file = folder_.path() + "/stdin.c";
    write(file, standard_input_);
    if (std::freopen(file.c_str(), "r", stdin) == nullptr)
      throw std::runtime_error("cannot read " + file);
  }

  static void write(const std::string& path, const std::string& text) {
    errno = 0;
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    if (!file) throw std::runtime_error("cannot write " + path + ": " + std::strerror(errno));
  }

  Warnings warnings() const {
    Warnings found = Warnings::kShown;
    for (const std::string& flag : line_.flags) {
      if (flag == "-w") return Warnings::kHidden;
      if (flag == "-Werror") found = Warnings::kErrors;
    }
    return found;
  }

  static std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  PreprocessorInput preprocessor_input(const Input& input) {
    if (view_.triple.empty()) view_ = behind_.view(line_.flags);
    PreprocessorInput result{line_.words[input.position],
                             line_.standard.empty() ? "gnu17" : line_.standard, line_.preprocessor,
                             view_, nullptr};
    const std::vector<std::string> own = own_preprocessor_words();
    result.arguments.insert(result.arguments.begin(), own.begin(), own.end());
    if (result.source == "-") {
      result.source = "<stdin>";
      result.contents = &standard_input_;
      // Headers that standard input includes with quotes are looked for in the working folder.
      result.arguments.insert(result.arguments.begin(), {"-iquote", "."});
    }
    return result;
  }

  std::vector<std::string> own_preprocessor_words() const {
    std::vector<std::string> words = {kVersionMacro};
    // -isystem: the folder is searched after the user's folders and before the system's.
    if (const std::string folder = include_folder(); !folder.empty())
      append(words, {"-isystem", folder});
    append(words, mpi_.preprocessor);
    return words;
  }

  // Returns the user's command with each translated source replaced by its translation.
  std::vector<std::string> whole_line(const std::map<size_t, std::string>& translated) const {
    std::vector<std::string> words = behind_.with(own_preprocessor_words());
    append(words, flags_for_translations());
    // Whether the last -x is for a translation. It is reset only before a further input: clang
    // warns of a -x behind the last one.
    bool language_is_own = false;
    for (size_t i = 0; i < line_.words.size(); ++i) {
      if (const auto found = translated.find(i); found != translated.end()) {
        append(words, {"-x", "cpp-output", found->second});
        language_is_own = true;
        continue;
      }
      const auto input = std::ranges::find(line_.inputs, i, &Input::position);
      if (language_is_own && input != line_.inputs.end()) {
        append(words, {"-x", language_of(*input)});
        language_is_own = false;
      }
      words.push_back(line_.words[i]);
    }
    if (line_.result == CommandLine::kProgram && links_xmp()) append(words, library_words());
    if (line_.result == CommandLine::kProgram && calls_mpi()) append(words, mpi_.linker);
    return words;
  }

  // gcc does not vectorise a loop with more than 10 pairs of pointers that might alias; stencils of
  // many arrays have more. With a higher limit it compares them at run time, once per inner loop.
  std::vector<std::string> flags_for_translations() const {
    const bool is_gcc = view_.macros.find("#define __clang__") == std::string::npos;
    if (!is_gcc || translated_.empty()) return {};
    return {"--param=vect-max-version-for-alias-checks=100"};
  }

  // Returns the argument of -x for the source.
  static std::string language_of(const Input& input) {
    return input.language.empty() ? "none" : input.language;
  }

  // Whether the program needs the runtime: a source was translated, or an object or a static
  // library came from a translation.
  bool links_xmp() const {
    if (!translated_.empty()) return true;
    for (const Input& input : line_.inputs)
      if (!input.c_source && mentions_runtime(line_.words[input.position])) return true;
    for (const std::string& word : line_.words)
      for (const std::string& folder : line_.library_folders)
        if (word.starts_with("-l") && mentions_runtime(folder + "/lib" + word.substr(2) + ".a"))
          return true;
    return false;
  }

  static bool mentions(const std::string& file, const char* word) {
    return text_of(file).find(word) != std::string::npos;
  }
  static bool mentions_runtime(const std::string& object) {
    return mentions(object, "nagaya_xmp_unit");
  }

  // Whether a source or an object may call MPI.
  bool calls_mpi() const {
    return std::ranges::any_of(line_.inputs, [&](const Input& input) {
      const auto translated = translated_.find(input.position);
      return mentions(
          translated != translated_.end() ? translated->second : line_.words[input.position],
          "MPI_");
    });
  }

  static std::vector<std::string> library_words() {
    const std::string folder = library_folder();
    if (folder.empty())
      throw std::runtime_error("libnagaya-xmp.so is missing from the installation of xmpcc");
    // ld.so splits a program's search path at colons and replaces names that begin with $.
    if (folder.find_first_of(":$") != std::string::npos)
      throw std::runtime_error(folder +
                               ": programs cannot be told of a library in a folder whose "
                               "name has a colon or a dollar sign; move the installation");
    // -Xlinker, because -Wl would split the folder's name at commas.
    return {"-L" + folder,  "-Xlinker",       "-rpath",
            "-Xlinker",     folder,           "-Wl,--push-state,--as-needed",
            "-lnagaya-xmp", "-Wl,--pop-state"};
  }

  int print_translations() const {
    std::string all;
    for (const Input& input : line_.inputs) {
      const auto found = translated_.find(input.position);
      if (!input.c_source) continue;
      const std::string& source = line_.words[input.position];
      all.append(source == "-" && found == translated_.end()
                     ? standard_input_
                     : text_of(found != translated_.end() ? found->second : source));
    }
    if (!line_.output.empty()) {
      write(line_.output, all);
    } else if (std::fwrite(all.data(), 1, all.size(), stdout) != all.size() ||
               std::fflush(stdout) != 0) {
      throw std::runtime_error(std::string("cannot write the translation: ") +
                               std::strerror(errno));
    }
    return 0;
  }

  // For -c and -S: makes one output for each source, named after it. Returns the largest status.
  int compile_one_by_one() const {
    size_t sources = 0;
    for (const Input& input : line_.inputs) sources += input.compiled;
    if (sources > 1 && !line_.output.empty()) {
      std::fprintf(stderr, "xmpcc: error: -o cannot name the output of several sources\n");
      return 1;
    }
    int worst = 0;
    for (const Input& input : line_.inputs) worst = std::max(worst, compile(input));
    return worst;
  }

  int compile(const Input& input) const {
    const std::string& source = line_.words[input.position];
    const auto found = translated_.find(input.position);
    const bool assembly = line_.result == CommandLine::kAssembly;
    const std::string output =
        !line_.output.empty()
            ? line_.output
            : fs::path(source).filename().replace_extension(assembly ? ".s" : ".o").string();
    std::vector<std::string> words;
    if (found == translated_.end()) {
      words = words_before_source();
      append(words, line_.dependencies);
      append(words, {"-x", language_of(input), source});
    } else {
      if (const int status =
              write_dependencies(source, fs::path(output).replace_extension(".d"), output);
          status != 0)
        return status;
      words = behind_.with(line_.flags);
      append(words, flags_for_translations());
      append(words, {"-x", "cpp-output", found->second});
    }
    append(words, {assembly ? "-S" : "-c", "-o", output});
    return run(words);
  }

  // Returns the beginning of a command that preprocesses a source: the compiler and its options.
  std::vector<std::string> words_before_source() const {
    std::vector<std::string> words = behind_.with(line_.flags);
    append(words, line_.preprocessor);
    append(words, own_preprocessor_words());
    return words;
  }

  // Writes the dependencies of a source that is compiled and linked in one command, into a file
  // named as gcc names it.
  int write_dependencies_of_program(const std::string& source) const {
    const fs::path stem = fs::path(source).stem();
    return line_.output.empty()
               ? write_dependencies(source, "a-" + stem.string() + ".d", stem.string() + ".o")
               : write_dependencies(source, fs::path(line_.output).replace_extension(".d"),
                                    line_.output);
  }

  // Lets the compiler behind write the dependencies of the original source: -MD becomes -M, -MMD
  // becomes -MM.
  int write_dependencies(const std::string& source, const std::string& file,
                         const std::string& target) const {
    std::vector<std::string> words = words_before_source();
    bool wanted = false, has_file = false, has_target = false;
    for (const std::string& word : line_.dependencies) {
      const bool makes = word == "-MD" || word == "-MMD";
      wanted = wanted || makes;
      has_file = has_file || word == "-MF";
      has_target = has_target || word == "-MT" || word == "-MQ";
      words.push_back(!makes ? word : word == "-MD" ? "-M" : "-MM");
    }
    if (!wanted) return 0;
    if (!has_file) append(words, {"-MF", file});
    if (!has_target) append(words, {"-MQ", target});
    append(words, {"-x", "c", source});
    const int status = run(words);
    std::rewind(stdin);
    return status;
  }

  const CommandLine& line_;
  CompilerBehind behind_;
  MpiWords mpi_;
  CompilerView view_;
  TemporaryFolder folder_;
  std::map<size_t, std::string> translated_;  // translation's file by position of the source
  std::string standard_input_;                // its text, if standard input is a source
};

}  // namespace

int drive(const CommandLine& line) {
  return Driver(line).drive();
}

}  // namespace nagaya::xmp
