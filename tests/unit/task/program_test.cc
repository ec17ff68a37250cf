// SPDX-License-Identifier: BSD-3-Clause
#include "task/load/program.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "task/elf_file.h"
#include "task/error_code.h"

namespace nagaya::task {
namespace {

using Strings = std::vector<std::string>;

class ProgramTest : public testing::Test {
 protected:
  ProgramTest() {
    folder_.write("prog", ElfFile().bytes());
    environment_ = {"PATH=/nonexistent:" + folder_.path()};
  }
  ProgramText resolve(const std::string& command, const Strings& arguments = {}) {
    return resolve_program(command, arguments, environment_);
  }
  int code_for(const std::string& command) {
    return code_of([&] { resolve(command); });
  }
  std::string message_for(const std::string& command) {
    try {
      resolve(command);
      return "";
    } catch (const base::Error& error) {
      return error.what();
    }
  }
  std::string real(const std::string& path) { return std::filesystem::canonical(path); }

  TemporaryFolder folder_;
  Strings environment_;
};

TEST_F(ProgramTest, IsResolvedAfreshByTheCacheWhenItsFileHasChanged) {
  ProgramCache cache;
  const std::string path = folder_ / "prog";
  const ProgramText first = cache.resolve(path, {"a"}, {"X=1"});
  EXPECT_EQ(cache.resolve(path, {"a"}, {"X=1"}).program, first.program);
  EXPECT_EQ(cache.resolve(path, {"b"}, {"X=2"}).arguments, Strings{"b"});
  folder_.write("other", ElfFile().bytes());
  folder_.write("script", "#!" + (folder_ / "other") + "\n");
  std::filesystem::rename(folder_ / "script", path);
  EXPECT_EQ(cache.resolve(path, {"a"}, {}).program, real(folder_ / "other"));
  std::filesystem::remove(path);
  EXPECT_EQ(code_of([&] { cache.resolve(path, {}, {}); }), -ENOENT);
}

TEST_F(ProgramTest, WithoutAPathIsSearchedByTheCacheEachTime) {
  ProgramCache cache;
  std::filesystem::create_directory(folder_ / "elsewhere");
  folder_.write("elsewhere/prog", ElfFile().bytes());
  EXPECT_EQ(cache.resolve("prog", {}, environment_).program, real(folder_ / "prog"));
  EXPECT_EQ(cache.resolve("prog", {}, {"PATH=" + (folder_ / "elsewhere")}).program,
            real(folder_ / "elsewhere/prog"));
}

TEST_F(ProgramTest, KeepsTheNameThatEachCommandGivesItInTheCache) {
  ProgramCache cache;
  for (const std::string& command : {std::string("prog"), folder_ / "prog", std::string("prog")}) {
    const ProgramText text = cache.resolve(command, {}, environment_);
    EXPECT_EQ(text.name, command);
    EXPECT_EQ(text.process_name, "prog");
    EXPECT_EQ(text.program, real(folder_ / "prog"));
  }
}

TEST_F(ProgramTest, IsFoundThroughPath) {
  const ProgramText text = resolve("prog", {"a", "b"});
  EXPECT_EQ(text.program, real(folder_ / "prog"));
  EXPECT_EQ(text.name, "prog");
  EXPECT_EQ(text.arguments, (Strings{"a", "b"}));
}

TEST_F(ProgramTest, IsNotSearchedWhenItsNameHasASlash) {
  EXPECT_EQ(code_for("./prog"), -ENOENT);
  EXPECT_EQ(resolve(folder_ / "prog").name, folder_ / "prog");
}

TEST_F(ProgramTest, SkipsFoldersAndFilesThatCannotRunWhileSearching) {
  std::filesystem::create_directories(folder_ / "first/prog");
  std::filesystem::create_directories(folder_ / "second");
  folder_.write("second/prog", "no", 0644);
  environment_ = {"PATH=" + (folder_ / "first") + ":" + (folder_ / "second") + ":" +
                  folder_.path()};
  EXPECT_EQ(resolve("prog").program, real(folder_ / "prog"));
}

TEST_F(ProgramTest, IsRefusedWithEaccesWhenOnlyAFileThatCannotRunIsFound) {
  folder_.write("plain", ElfFile().bytes(), 0644);
  EXPECT_EQ(code_for("plain"), -EACCES);
}

TEST_F(ProgramTest, SearchesTheWorkingFolderForAnEmptyEntryOfPath) {
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder_.path());
  for (const char* path :
       {"PATH=:/nonexistent", "PATH=/nonexistent::/nonexistent", "PATH=/nonexistent:"}) {
    environment_ = {path};
    EXPECT_EQ(code_for("prog"), 0) << path;
  }
  std::filesystem::current_path(before);
}

TEST_F(ProgramTest, IsResolvedThroughSymbolicLinksButKeepsItsName) {
  std::filesystem::create_symlink("prog", folder_ / "link");
  const ProgramText text = resolve("link");
  EXPECT_EQ(text.program, real(folder_ / "prog"));
  EXPECT_EQ(text.name, "link");
}

TEST_F(ProgramTest, ThatIsMissingIsReportedAsMissing) {
  EXPECT_EQ(code_for("no-such-program"), -ENOENT);
  EXPECT_EQ(code_for(folder_ / "no-such-program"), -ENOENT);
  EXPECT_EQ(code_for(folder_ / "prog/below-a-file"), -ENOENT);
  EXPECT_EQ(code_for(""), -ENOENT);
}

TEST_F(ProgramTest, ThatCannotRunIsReportedWithItsCause) {
  EXPECT_EQ(code_for(folder_.path()), -EISDIR);
  EXPECT_EQ(code_for(folder_.write("text", "hello")), -ENOEXEC);
  EXPECT_EQ(code_for(folder_.write("empty", "")), -ENOEXEC);
  EXPECT_EQ(code_for(folder_.write("plain", ElfFile().bytes(), 0644)), -EACCES);
}

TEST_F(ProgramTest, ThatIsAtAFixedAddressIsRefusedWithTheCure) {
  ElfFile file;
  file.header.e_type = ET_EXEC;
  const std::string path = folder_.write("fixed", file.bytes());
  try {
    resolve(path);
    FAIL() << "no exception";
  } catch (const base::Error& error) {
    EXPECT_EQ(error.code(), -ENOEXEC);
    EXPECT_NE(std::string(error.what()).find("-pie"), std::string::npos) << error.what();
    EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
  }
}

// Opening a FIFO to read waits for a writer: in a child, which is ended when it hangs.
TEST_F(ProgramTest, ThatIsAFifoIsRefusedWithoutWaiting) {
  const std::string path = folder_ / "fifo";
  ASSERT_EQ(::mkfifo(path.c_str(), 0755), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(3);
    ::_exit(code_of([&] { resolve(path); }) == -EACCES ? 0 : 1);
  }
  int status;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << (WIFSIGNALED(status) ? "it hung" : "another code");
}

TEST_F(ProgramTest, ThatIsAScriptRunsItsInterpreter) {
  const std::string script = folder_.write("script", "#! " + (folder_ / "prog") + "  -x  y \nrest");
  const ProgramText text = resolve(script, {"1", "2"});
  EXPECT_EQ(text.program, real(folder_ / "prog"));
  EXPECT_EQ(text.name, folder_ / "prog");
  EXPECT_EQ(text.arguments, (Strings{"-x  y", script, "1", "2"}));
}

TEST_F(ProgramTest, ThatIsAScriptOfAScriptRunsTheLastInterpreter) {
  const std::string inner = folder_.write("inner", "#!" + (folder_ / "prog") + " -i\n");
  const std::string outer = folder_.write("outer", "#!" + inner + " -o\n");
  const ProgramText text = resolve(outer, {"1"});
  EXPECT_EQ(text.program, real(folder_ / "prog"));
  EXPECT_EQ(text.arguments, (Strings{"-i", inner, "-o", outer, "1"}));
}

TEST_F(ProgramTest, ThatIsItsOwnInterpreterIsRefused) {
  const std::string path = folder_ / "loop";
  folder_.write("loop", "#!" + path + "\n");
  EXPECT_EQ(code_for(path), -ELOOP);
}

TEST_F(ProgramTest, ThatIsAScriptIsLookedForThroughEnv) {
  const std::string script = folder_.write("script", "#!/usr/bin/env prog\n");
  const ProgramText text = resolve(script, {"1"});
  EXPECT_EQ(text.program, real(folder_ / "prog"));
  EXPECT_EQ(text.arguments, (Strings{script, "1"}));
}

TEST_F(ProgramTest, ThatIsAScriptWithoutItsInterpreterIsRefused) {
  EXPECT_EQ(code_for(folder_.write("none", "#!\n")), -ENOEXEC);
  EXPECT_EQ(code_for(folder_.write("missing", "#!/no/such/interpreter\n")), -ENOEXEC);
  EXPECT_EQ(code_for(folder_.write("env", "#!/usr/bin/env no-such-program\n")), -ENOEXEC);
}

TEST_F(ProgramTest, ThatIsAScriptHasItsNameInTheMessage) {
  const std::string script = folder_.write("script", "#!/usr/bin/env no-such-program\n");
  const std::string message = message_for(script);
  EXPECT_TRUE(message.starts_with(script + ": ")) << message;
  EXPECT_NE(message.find("no-such-program"), std::string::npos) << message;
}

TEST_F(ProgramTest, ThatIsAScriptIsReadAsFarAsTheKernelReads) {
  const std::string interpreter = folder_ / "prog";
  const std::string line = "#!" + interpreter + " " + std::string(1000, 'x');
  EXPECT_EQ(resolve(folder_.write("long", line)).arguments[0].size(), 253 - interpreter.size());
  const std::string endless = folder_.write("endless", "#!" + std::string(1000000, 'x'));
  EXPECT_EQ(code_for(endless), -ENOEXEC);
  EXPECT_LT(message_for(endless).size(), endless.size() + 100);
  EXPECT_EQ(resolve(folder_.write("unended", "#!" + interpreter)).name, interpreter);
}

std::string with_interpreter(const std::string& name) {
  ElfFile file;
  file.interpreter = name + '\0';
  file.interp.p_filesz = file.interpreter.size();
  return file.bytes();
}

TEST_F(ProgramTest, ThatHasNoUsableInterpreterIsRefusedAndBothAreNamed) {
  ASSERT_EQ(::mkfifo((folder_ / "fifo").c_str(), 0755), 0);
  folder_.write("text", "hello");
  ElfFile fixed;
  fixed.header.e_type = ET_EXEC;
  folder_.write("fixed", fixed.bytes());
  for (const char* name : {"missing", "fifo", "text", "fixed", "."}) {
    const std::string interpreter = folder_ / name;
    const std::string path = real(folder_.write("program", with_interpreter(interpreter)));
    EXPECT_EQ(code_for(path), -ENOEXEC) << name;
    EXPECT_TRUE(message_for(path).starts_with(path + ": its interpreter " + interpreter + ": "))
        << message_for(path);
  }
  EXPECT_EQ(code_for(folder_.write("program", with_interpreter(folder_ / "prog"))), 0);
}

std::string tunables_of(const ProgramText& text) {
  const char* value = environment_value(text.environment, "GLIBC_TUNABLES");
  return value == nullptr ? "(none)" : value;
}

TEST_F(ProgramTest, GetsTheMallocSettingsOfASharedAddressSpace) {
  const std::string value = tunables_of(resolve("prog"));
  EXPECT_NE(value.find("glibc.malloc.mmap_threshold="), std::string::npos);
  EXPECT_NE(value.find("glibc.malloc.trim_threshold="), std::string::npos);
}

TEST_F(ProgramTest, KeepsOtherTunables) {
  environment_.push_back("GLIBC_TUNABLES=glibc.rtld.nns=8");
  const std::string value = tunables_of(resolve("prog"));
  EXPECT_TRUE(value.starts_with("glibc.rtld.nns=8:glibc.malloc.")) << value;
}

TEST_F(ProgramTest, FillsAnEmptyVariableOfTunables) {
  environment_.push_back("GLIBC_TUNABLES=");
  EXPECT_TRUE(tunables_of(resolve("prog")).starts_with("glibc.malloc."));
}

TEST_F(ProgramTest, RespectsTheUsersOwnMallocSettings) {
  environment_.push_back("GLIBC_TUNABLES=glibc.malloc.arena_max=1");
  EXPECT_EQ(tunables_of(resolve("prog")), "glibc.malloc.arena_max=1");
}

TEST(EnvironmentValue, ComparesTheWholeName) {
  const Strings environment = {"PATHX=1", "PATH=2", "PATH=3", "EMPTY="};
  EXPECT_STREQ(environment_value(environment, "PATH"), "2");
  EXPECT_STREQ(environment_value(environment, "EMPTY"), "");
  EXPECT_EQ(environment_value(environment, "PAT"), nullptr);
  EXPECT_EQ(environment_value(environment, "NONE"), nullptr);
}

}  // namespace
}  // namespace nagaya::task
