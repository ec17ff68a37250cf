// SPDX-License-Identifier: BSD-3-Clause
// Writes the seeds of the corpus: make_corpus FOLDER (tests/fuzz/corpus). Run it again when the
// layout of a message has changed.
#include <sys/procfs.h>
#include <sys/user.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "../unit/delegatee/raw_batch.h"
#include "../unit/task/elf_file.h"
#include "array/channel_end.h"
#include "bootstrap/card.h"
#include "delegatee/question.h"
#include "match/cell.h"
#include "task/host/wire.h"
#include "task/space/space.h"

namespace {

using namespace nagaya::task;

std::string folder;

void write(const std::string& name, const std::string& bytes) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

void write_programs() {
  ElfFile good;
  write("elf/program", good.bytes());
  write("elf/cut", good.bytes().substr(0, 100));
  ElfFile fixed;
  fixed.header.e_type = ET_EXEC;
  write("elf/fixed", fixed.bytes());
  ElfFile far;
  far.header.e_phoff = ~0ull;
  write("elf/headers-at-minus-one", far.bytes());
  ElfFile no_interpreter;
  no_interpreter.interp.p_type = PT_NULL;
  write("elf/static", no_interpreter.bytes());
  ElfFile dynamic;
  dynamic.interp.p_type = PT_DYNAMIC;
  dynamic.interp.p_filesz = 64;
  write("elf/dynamic", dynamic.bytes());
  ElfFile far_dynamic = dynamic;
  far_dynamic.interp.p_offset = 1ull << 63;
  write("elf/dynamic-at-minus", far_dynamic.bytes());
  write("elf/text", "#!/bin/sh\n");
}

void write_launches() {
  Launch launch{};
  write("launch/empty", encode(launch));
  launch.text = {"/bin/a", "a", {"1", ""}, {"X=y"}};
  launch.descriptor_numbers = {0, 1, 2};
  const std::string whole = encode(launch);
  write("launch/usual", whole);
  write("launch/cut", whole.substr(0, whole.size() / 2));
  write("launch/longer", whole + "x");
  std::string damaged = whole;
  damaged.replace(0, 8, 8, '\xff');
  write("launch/huge-length", damaged);
  launch.descriptor_numbers = {2, 1};
  write("launch/descending", encode(launch));
  launch.descriptor_numbers.clear();
  launch.stands_for = kTasksMax;
  write("launch/no-rank", encode(launch));
}

void write_connections() {
  const auto frame = [](uint32_t magic, uint32_t type, uint32_t bytes, uint32_t descriptors) {
    struct {
      uint32_t words[4];
    } const words{{magic, type, bytes, descriptors}};
    return encode_plain(words);
  };
  constexpr uint32_t kMagic = 0x4e414746;
  write("channel/empty", "");
  write("channel/signal", frame(kMagic, 5, 8, 0) + "12345678");
  write("channel/two", frame(kMagic, 0, 1, 0) + "a" + frame(kMagic, 1, 0, 0));
  write("channel/cut", frame(kMagic, 3, 100, 0) + "abc");
  write("channel/foreign", "GET / HTTP/1.1\r\n\r\n");
  write("channel/huge", frame(kMagic, 3, 0xffffffff, 0));
  write("channel/no-descriptors", frame(kMagic, 3, 0, 3));
}

void write_questions() {
  using nagaya::delegatee::Question;
  write("question/contact", encode(Question{Question::Kind::kContact, {"FI_A=1", "B"}, 0, {}}));
  const std::string whole =
      encode(Question{Question::Kind::kConnect, {}, 1, {"one", std::string("\0two", 4), ""}});
  write("question/connect", whole);
  write("question/cut", whole.substr(0, whole.size() - 5));
  write("question/longer", whole + "x");
  write("question/unknown-kind", encode(Question{static_cast<Question::Kind>(7), {}, 0, {}}));
  write("question/no-such-node", encode(Question{Question::Kind::kConnect, {}, 2, {"a", "b"}}));
  std::string many = encode(Question{});
  many.replace(4, 4, 4, '\xff');
  write("question/huge-count", many);
}

void write_cards() {
  const std::string whole = encode(nagaya::bootstrap::Card{7, 3, 2, 0, 0, "the address of a node"});
  write("card/speaker", whole);
  write("card/other", encode(nagaya::bootstrap::Card{7, 4, 0, 0, 0, ""}));
  write("card/failed", encode(nagaya::bootstrap::Card{7, 5, 0, 0, -ENOMEM, "no memory"}));
  write("card/no-error",
        encode(nagaya::bootstrap::Card{7, 5, 0, 0, ENOMEM, "a code that is no error"}));
  write("card/cut", whole.substr(0, whole.size() - 1));
  write("card/half-a-head", whole.substr(0, 9));
  write("card/longer", whole + "x");
  std::string reserved = whole;
  reserved[6] = 1;
  write("card/reserved", reserved);
}

void write_statuses() {
  JobStatus status;
  status.host_pid = 7;
  status.launcher_pid = 6;
  status.expected_tasks = 3;
  status.capacity = 64;
  write("status/empty", encode(status));
  status.tasks.push_back({1, TaskState::kRunning, 8, 0, 1, 2, 3, 4, 5, 6, "/bin/prog", "group"});
  status.tasks.push_back({2, TaskState::kEnded, 9, 256, 1, 2, 3, 4, 0, -1, "", ""});
  const std::string whole = encode(status);
  write("status/usual", whole);
  write("status/cut", whole.substr(0, whole.size() - 3));
  write("status/longer", whole + "x");
  status.tasks[0] = {~0u, static_cast<TaskState>(4), -1,    -1, ~0ull, ~0ull, ~0ull, ~0ull, ~0u,
                     -2,  "\xff\x1b[2J\n",           "\xc3"};
  status.departures = {{~0, "\x1b[2J\n", "\xc3\njob "}};
  write("status/unknown-state", encode(status));
  status.tasks[0].state = TaskState::kEnded;
  write("status/strange-numbers", encode(status));
  status.tasks[0].program =
      "/tmp/x\njob $(touch /tmp/ran): 1 tasks\r\x1b]0;title\a\x7f\xc2\x9b"
      "2J\xe2\x80\xae/prog";
  write("status/hostile-names", encode(status));
  status.tasks.clear();
  status.departures.clear();
  // As many tasks as bytes allow of the shortest thing, a length.
  std::string many = encode(status);
  many.replace(many.size() - 8, 8, std::string("\0\4\0\0\0\0\0\0", 8));
  write("status/many-short-tasks", many + std::string(0x400 * 8, '\0'));
}

void write_pmi_answers() {
  const auto joined = [](std::initializer_list<const char*> lines) {
    std::string all;
    for (const char* line : lines) all += std::string(line) + '\0';
    return all;
  };
  const std::string opening =
      joined({"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
              "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=20\n",
              "cmd=my_kvsname kvsname=kvs_1\n", "cmd=put_result rc=0 msg=success\n",
              "cmd=put_result rc=0 msg=success\n", "cmd=barrier_out rc=0\n"});
  const std::string usual =
      opening + joined({"cmd=get_result rc=0 value=00000008001122334455\n", "cmd=get_result rc=0 ",
                        "value=66778\n", "cmd=barrier_out rc=0\n",
                        "cmd=get_result rc=0 value=0000000161\n", "cmd=finalize_ack\n"});
  write("pmi1/empty", "");
  write("pmi1/opening", opening);
  write("pmi1/usual", usual);
  write("pmi1/no-end-of-line", usual.substr(0, 20));
  write("pmi1/huge-length", opening + joined({"cmd=get_result rc=0 value=99999999001122334455\n"}));
  write("pmi1/two-lines", "cmd=response_to_init rc=0\ncmd=maxes vallen_max=64\n");
  write("pmi1/long-line", "cmd=response_to_init rc=0 " + std::string(70000, 'x') + "\n");
}

// The input of pmi1_server_target.h: 0xff switches to the next connection.
void write_pmi_commands() {
  const std::string opening =
      "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_maxes\ncmd=get_appnum\n"
      "cmd=get_my_kvsname\ncmd=get kvsname=job key=PMI_process_mapping\n";
  const std::string meeting = "cmd=put kvsname=job key=card-0 value=17a3\ncmd=barrier_in\n";
  const std::string spawn =
      "mcmd=spawn\nnprocs=2\nexecname=worker\ntotspawns=1\nspawnssofar=1\narg1=two words\n"
      "argcnt=1\npreput_num=1\npreput_key_0=PORT\npreput_val_0=tag#0$\n"
      "info_num=1\ninfo_key_0=wdir\ninfo_val_0=/tmp\nendcmd\n";
  write("pmi1_server/empty", "");
  write("pmi1_server/usual", opening + meeting + "\xff\xff" + opening + "cmd=barrier_in\n\xff" +
                                 "cmd=get kvsname=job key=card-1\ncmd=finalize\n");
  write("pmi1_server/two-connections", meeting + "\xff" + meeting + "\xff" + meeting);
  write("pmi1_server/spawn", opening + spawn + "\xff\xff\xff" + opening +
                                 "cmd=get kvsname=job key=PORT\ncmd=barrier_in\n");
  write("pmi1_server/many-spawns", spawn + spawn + spawn + spawn);
  write("pmi1_server/several-programs",
        "mcmd=spawn\nnprocs=1\nexecname=a\ntotspawns=2\nendcmd\nmcmd=spawn\nnprocs=1\n"
        "execname=b\narg1=line\nbreak\nargcnt=1\nendcmd\n");
  write("pmi1_server/names",
        "cmd=publish_name service=s port=tag#0$\n\xff"
        "cmd=publish_name service=s port=x\ncmd=lookup_name service=s\n"
        "cmd=unpublish_name service=s\ncmd=lookup_name service=s\n");
  write("pmi1_server/abort",
        "\xff" + opening + "cmd=abort exitcode=7 message=a b\nmore\n\xff" + meeting);
  write("pmi1_server/no-end-of-line", opening.substr(0, 20) + "\xff" + meeting);
  write("pmi1_server/missing-fields",
        "cmd=put\n\xff"
        "cmd=get kvsname=job\n\xff"
        "cmd=\n");
  write("pmi1_server/many-questions", [&] {
    std::string questions;
    for (int n = 0; n < 1000; ++n) questions += "cmd=get_maxes\n";
    return questions;
  }());
}

// The input of host_target.h: a step (its top bit says which liar, the next that the host is not to
// serve it yet) and the step's arguments.
void write_lies() {
  const auto script = [](std::initializer_list<int> bytes) {
    return std::string(bytes.begin(), bytes.end());
  };
  constexpr int kGreet = 0, kLaunch = 1, kSignal = 2, kWaited = 3, kStatus = 4, kQuestion = 5,
                kFrame = 6, kBytes = 7, kCut = 8, kRead = 9, kShut = 10, kLeave = 11, kFollow = 12,
                kCommunication = 13, kLeft = 14, kActivity = 15, kServeLater = 64, kOther = 128,
                kAnyNumber = 255;
  write("host/usual",
        script({kGreet, 1,     kLaunch, 0, 0,       kAnyNumber, 0,         kSignal, 1,   9,
                kRead,  kRead, kWaited, 1, kStatus, 0,          kQuestion, 1,       'a', kRead}));
  write("host/unasked-child",
        script({kGreet, 1, kLaunch, 2, 0, kAnyNumber, 0, kRead, kRead, kRead}));
  write("host/leaves-while-launching",
        script({kGreet, 0x20, kLaunch | kServeLater, 1, 0, kAnyNumber, 0, kLeave, kRead, kRead}));
  write("host/signal-to-another", script({kGreet, 1, kSignal, 0, 9, kWaited, 0, kLaunch, 0, 0, 0, 0,
                                          kGreet | kOther, 1, kSignal | kOther, 1, 9}));
  std::string full = script({kGreet, 0});
  for (int n = 0; n < 7; ++n) full += script({kLaunch, 0, 1, kAnyNumber, 0});
  write("host/full", full + script({kRead, kLeave, kGreet, 1, kLaunch, 0, 0, kAnyNumber, 0}));
  std::string refused = script({kGreet, 1});
  for (int program = 3; program < 8; ++program)
    refused += script({kLaunch, program, 0, kAnyNumber, 0});
  write("host/refused", refused + script({kRead}));
  write("host/descriptors", script({kGreet, 0, kLaunch, 1, 0x13, 1, 0, kLaunch, 1, 2, 2, 7}));
  write("host/pieces",
        script({kCut, 5, kGreet, 1, kCut, 100, kLaunch, 0, 3, 1, 0, kCut, 15, kSignal, 1, 15}));
  write("host/frames", script({kGreet, 1, kFrame, 1, 0, 0, kLeave, kFrame, 8, 3, 0, kShut, 0,
                               kBytes, 3, 'a', 'b', 'c', 1}));
  write("host/reads-nothing",
        script({kGreet, 1, kQuestion, 1, 255, kQuestion, 1, 255, kQuestion, 1, 255, kStatus, 0}));
  write("host/damaged-launches", script({kGreet, 1, kLaunch, 1, 0, kAnyNumber, 1, 9,  0, 3, kLeave,
                                         kGreet, 1, kLaunch, 1, 0, kAnyNumber, 2, 40, 0}));
  write("host/follows",
        script({kFollow,        kLeave, kGreet, 1,     kFollow, kLeave,         kGreet, 1,
                kLaunch,        0,      0,      2,     0,       kCommunication, 2,      1,
                kCommunication, 2,      0,      kLeft, 2,       kRead}));
  write("host/reads-activity",
        script({kActivity, 1, kRead, kActivity | kOther, 3, kActivity, 2, kGreet, 1, kLaunch, 0, 0,
                kAnyNumber, 0, kRead, kLeave | kOther, kRead}));
  write("host/inherits",
        script({kGreet, 0, kLaunch, 1, 12, kAnyNumber, 0, 0, 1, 0, 0, 0, 0, 0, 1, 2, 3,
                4,      5, 6,       7, 8,  1,          2, 3, 4, 5, 6, 7, 8, 8, 3, 1, 0}));
}

// One of each kind to a task that receives and sends, in an order in which they fit together.
void write_cells() {
  using namespace nagaya::match;
  const auto step = [](uint8_t what, uint8_t argument, const std::string& payload = {}) {
    const auto bytes = static_cast<uint16_t>(payload.size());
    return std::string{static_cast<char>(what), static_cast<char>(argument),
                       static_cast<char>(bytes), static_cast<char>(bytes >> 8)} +
           payload;
  };
  const auto of = [](const auto& body) {
    const Header header{};
    return std::string(reinterpret_cast<const char*>(&header), sizeof header) +
           std::string(reinterpret_cast<const char*>(&body), sizeof body);
  };
  const auto kind = [](Kind which) { return static_cast<uint8_t>(which); };
  constexpr uint8_t kSend = 10, kCancel = 11, kReceive = 12, kTake = 13, kDrop = 14, kProgress = 15;
  const std::string announced = of(Rendezvous{{300, nullptr, 1, 0}, 1});
  const std::string answered = of(Handle{1});  // of the first send
  const std::string nothing(sizeof(Header), 0);
  const std::string eager = step(kind(Kind::kMessage), 0, nothing + "body");
  const std::string longer = step(kind(Kind::kMessage), 0, nothing + std::string(200, 'b'));
  write("cell/eager", step(kReceive, 6) + eager + step(kProgress, 0));
  write("cell/unexpected", eager + longer + step(kProgress, 0) + step(kReceive, 6) +
                               step(kTake, 9) + eager + step(kDrop, 0));
  write("cell/rendezvous",
        step(kReceive, 60) + step(kind(Kind::kRendezvous), 0, announced) + step(kProgress, 0));
  write("cell/answered", step(kSend, 0) + step(kind(Kind::kCopied), 0, answered) +
                             step(kind(Kind::kCopied), 0, answered));
  write("cell/cancelled", step(kSend, 0) + step(kCancel, 0) +
                              step(kind(Kind::kCancelled), 0, answered) + step(kProgress, 0));
  write("cell/kept", step(kSend, 0) + step(kCancel, 0) +
                         step(kind(Kind::kNotCancelled), 0, answered) +
                         step(kind(Kind::kCopied), 0, answered));
  write("cell/cancel", step(kind(Kind::kRendezvous), 0, announced) + step(kProgress, 0) +
                           step(kind(Kind::kCancel), 0, answered));
  write("cell/pointers", step(kReceive, 6) + step(6, 0, announced) + step(7, 0, announced));
}

void write_batches() {
  for (const auto& batches :
       {nagaya::delegatee::malformed_batches(), nagaya::delegatee::sound_batches()})
    for (const auto& [name, bytes] : batches) write(std::string("batch/") + name, bytes);
  // The input of proof_target.h: which byte is altered, and how.
  const auto altered = [](uint32_t position, char change, const std::string& batch) {
    return std::string(reinterpret_cast<const char*>(&position), sizeof position) + change +
           std::string(3, 0) + batch;
  };
  for (const auto& [name, bytes] : nagaya::delegatee::sound_batches())
    for (const uint32_t position : {40u, 200u, 1200u})
      write(std::string("proof/") + name + "-" + std::to_string(position),
            altered(position, 1, bytes));
}

// The input of backlog_target.h.
void write_backlogs() {
  const auto step = [](int what, int times, int source, int task, int bytes, bool keeps = false) {
    return std::string{static_cast<char>(what | times << 3),
                       static_cast<char>(source | task << 3 | (keeps ? 128 : 0)),
                       static_cast<char>(bytes), static_cast<char>(bytes >> 8)};
  };
  constexpr int kNotes = 0, kBody = 3, kRead = 5, kCancel = 6, kEnd = 7;
  std::string bodies, small;
  for (int n = 0; n < 40; ++n) bodies += step(kBody, 0, n % 3, 0, 5000 + n);
  for (int n = 0; n < 500; ++n) small += step(kBody, 0, n % 3, 0, 41);
  const std::string notes = step(kNotes, 31, 0, 0, 8) + step(kNotes, 31, 1, 0, 8);
  write("backlog/notes", notes + step(kRead, 0, 0, 0, 100) + notes);
  write("backlog/bodies", bodies + step(kRead, 0, 0, 0, 500) + bodies);
  write("backlog/small-bodies", small + step(kRead, 0, 0, 0, 10) + small);
  write("backlog/ends", bodies + step(kRead, 0, 0, 0, 500, true) + step(kEnd, 0, 0, 0, 0) + bodies +
                            step(kEnd, 0, 0, 0, 0) + notes);
  write("backlog/cancelled",
        bodies + step(kCancel, 0, 0, 0, 0) + step(kCancel, 0, 1, 0, 0) + notes);
}

// The input of channel_end_target.h.
void write_channel_ends() {
  struct Said {
    nagaya_process process;
    uint64_t box_bytes;
    nagaya::array::ChannelEnd end;
  };
  const nagaya_process reader{1, 2};
  const Said usual{reader, 1000, {{reader, 5, 0, 0}, {reader, 5, 0, 64}, 1024}};
  const auto changed = [&](const char* name, auto change) {
    Said said = usual;
    change(said);
    write(std::string("channel_end/") + name, encode_plain(said));
  };
  changed("usual", [](Said&) {});
  changed("receipts", [](Said& said) { said = {said.process, 0, {said.end.words, {}, 0}}; });
  changed("of-another-task", [](Said& said) { ++said.end.landing.process.task; });
  changed("words-of-another-node", [](Said& said) { ++said.end.words.process.node; });
  changed("short-stride", [](Said& said) { said.end.stride = 999; });
  changed("endless-stride", [](Said& said) { said.end.stride = UINT64_MAX; });
  changed("wraps", [](Said& said) { said.end.landing.offset = UINT64_MAX - 500; });
  changed("words-wrap", [](Said& said) { said.end.words.offset = UINT64_MAX - 7; });
}

// A core file of a task: its notes, its stack with the auxiliary vector, its record.
struct CoreParts {
  static constexpr uint64_t kStack = 0x7000, kRecord = 0x9000;

  Elf64_Ehdr header{};
  Elf64_Phdr notes{}, stack{}, record{};
  std::string note_bytes, stack_bytes, record_bytes;

  CoreParts() {
    header = ElfFile().header;
    header.e_type = ET_CORE;
    elf_prstatus status{};
    user_regs_struct registers{};
    registers.rsp = kStack + 8;
    std::memcpy(&status.pr_reg, &registers, sizeof registers);
    add_note(NT_PRSTATUS, encode_plain(status));
    const uint64_t files[] = {1, 4096, 0x1000, 0x2000, 0};
    add_note(NT_FILE, encode_plain(files) + std::string("/bin/prog", 10));
    const uint64_t vector[] = {0, 0, AT_PAGESZ, 4096, kAuxvType, kRecord, AT_NULL, 0};
    stack_bytes = encode_plain(vector);
    record_bytes.resize(sizeof(TaskRecord) + 16);
    const Stamp stamp{kMagic, kAbiMajor, kAbiMinor, sizeof(TaskRecord), 0};
    std::memcpy(record_bytes.data(), &stamp, sizeof stamp);
    const uint64_t program = kRecord + sizeof(TaskRecord);
    std::memcpy(record_bytes.data() + offsetof(TaskRecord, program), &program, sizeof program);
    record_bytes.replace(sizeof(TaskRecord), 10, std::string("/bin/prog", 10));
    uint64_t at = 512;
    for (const auto& [part, type, address, bytes] :
         {std::tuple(&notes, PT_NOTE, uint64_t{0}, note_bytes.size()),
          std::tuple(&stack, PT_LOAD, kStack, stack_bytes.size()),
          std::tuple(&record, PT_LOAD, kRecord, record_bytes.size())}) {
      *part = {static_cast<uint32_t>(type), PF_R, at, address, 0, bytes, bytes, 1};
      at += (bytes + 511) / 512 * 512;
    }
  }
  void add_note(uint32_t type, const std::string& content) {
    const Elf64_Nhdr note{5, static_cast<uint32_t>(content.size()), type};
    note_bytes += encode_plain(note) + std::string("CORE\0\0\0\0", 8) + content;
    note_bytes.resize((note_bytes.size() + 3) / 4 * 4);
  }
  std::string bytes() const {
    std::string all =
        encode_plain(header) + encode_plain(notes) + encode_plain(stack) + encode_plain(record);
    for (const std::string* part : {&note_bytes, &stack_bytes, &record_bytes}) {
      all.resize((all.size() + 511) / 512 * 512);
      all += *part;
    }
    return all;
  }
};

void write_cores() {
  const auto changed = [](const char* name, auto change) {
    CoreParts core;
    change(core);
    write(std::string("core/") + name, core.bytes());
  };
  changed("usual", [](CoreParts&) {});
  write("core/cut", CoreParts().bytes().substr(0, 1000));
  write("core/program", ElfFile().bytes());
  changed("no-task", [](CoreParts& core) { core.stack_bytes.assign(64, '\0'); });
  changed("headers-beyond-the-end", [](CoreParts& core) { core.header.e_phnum = PN_XNUM - 1; });
  changed("no-headers", [](CoreParts& core) { core.header.e_phnum = 0; });
  changed("headers-in-no-section", [](CoreParts& core) {
    core.header.e_phnum = PN_XNUM;
    core.header.e_shoff = ~0ull;
  });
  changed("notes-beyond-the-end", [](CoreParts& core) { core.notes.p_filesz = ~0ull; });
  changed("note-without-end", [](CoreParts& core) { core.note_bytes.replace(4, 4, 4, '\xff'); });
  changed("all-files", [](CoreParts& core) {
    core.note_bytes.clear();
    core.add_note(NT_FILE, std::string(16, '\xff'));
    core.notes.p_filesz = core.note_bytes.size();
  });
  changed("stack-that-wraps", [](CoreParts& core) { core.stack.p_filesz = ~0ull; });
  changed("stack-beyond-the-end", [](CoreParts& core) { core.stack.p_offset = ~0ull - 8; });
  changed("record-at-odd-place", [](CoreParts& core) {
    core.record_bytes.insert(0, 3, '\0');
    core.record.p_filesz += 3;
    core.record.p_vaddr -= 3;
  });
  changed("program-nowhere", [](CoreParts& core) {
    core.record_bytes.replace(offsetof(TaskRecord, program), 8, 8, '\xff');
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: make_corpus FOLDER\n"), 2;
  folder = argv[1];
  write_programs();
  write_launches();
  write_connections();
  write_questions();
  write_cards();
  write_statuses();
  write_pmi_answers();
  write_pmi_commands();
  write_lies();
  write_batches();
  write_backlogs();
  write_cells();
  write_channel_ends();
  write_cores();
}
