// SPDX-License-Identifier: BSD-3-Clause
// checkpoint_api.cc - the functions of nagaya/checkpoint.h.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/catch_errors.h"
#include "base/fd.h"
#include "checkpoint/checkpoint_file.h"
#include "llcl/requests/endpoint.h"
#include "nagaya/coll.h"

using nagaya::base::catch_errors;
using nagaya::checkpoint::CheckpointFile;
using nagaya::checkpoint::Entry;
using nagaya::checkpoint::Header;
using nagaya::checkpoint::Part;
using nagaya::checkpoint::Pieces;
using nagaya::llcl::Endpoint;

struct nagaya_checkpoint {
  ~nagaya_checkpoint() {
    file.reset();
    if (team != nullptr) nagaya_coll_close(team);
  }

  nagaya_team* team = nullptr;
  uint32_t rank = 0;
  uint32_t size = 0;
  std::string suffix;            // of the file's name
  std::vector<uint32_t> shares;  // the ranks that have one file with this one
  // The members below describe the checkpoint in progress.
  bool is_pending = false;
  std::string path;
  std::vector<std::byte> beginning;
  std::optional<CheckpointFile> file;

  bool is_first() const { return shares.front() == rank; }
};

namespace {

constexpr const char* kNewSuffix = ".new";

// Each rank sends its card to all others.
struct Card {
  uint64_t bytes;
  int64_t error;
};

// Returns all ranks' cards. Throws base::Error.
std::vector<Card> exchange(nagaya_checkpoint& checkpoint, Card own) {
  std::vector<Card> all(checkpoint.size);
  nagaya_collective gather{};
  gather.kind = NAGAYA_ALLGATHER;
  gather.send = {&own, sizeof own, sizeof own, nullptr, nullptr, nullptr, nullptr};
  gather.receive = {all.data(), sizeof own, sizeof own, nullptr, nullptr, nullptr, nullptr};
  const int error = nagaya_coll_run(checkpoint.team, &gather);
  if (error != 0) throw nagaya::base::Error(error, "a checkpoint's ranks cannot tell each other");
  return all;
}

// Returns the error of the lowest rank that has one.
int first_error(const std::vector<Card>& all) {
  for (const Card& one : all)
    if (one.error != 0) return static_cast<int>(one.error);
  return 0;
}
int agree(nagaya_checkpoint& checkpoint, int error) {
  return first_error(exchange(checkpoint, {0, error}));
}

uint64_t bytes_of(Pieces pieces) {
  uint64_t sum = 0;
  for (const nagaya_checkpoint_piece& piece : pieces) sum += piece.bytes;
  return sum;
}

// Writes this rank's part, and the first rank of the file its beginning.
void write_part(nagaya_checkpoint& checkpoint, const std::vector<Card>& all, Pieces pieces) {
  std::vector<Part> parts;
  for (const uint32_t rank : checkpoint.shares) parts.push_back({rank, all[rank].bytes});
  checkpoint.beginning = nagaya::checkpoint::encode(checkpoint.size, parts);
  CheckpointFile& file = *checkpoint.file;
  if (checkpoint.is_first())
    file.write(checkpoint.beginning.data(), checkpoint.beginning.size(), 0);
  uint64_t offset = nagaya::checkpoint::entry_of(checkpoint.beginning, checkpoint.rank).offset;
  for (const nagaya_checkpoint_piece& piece : pieces) {
    file.write(piece.data, piece.bytes, offset);
    offset += piece.bytes;
  }
  file.sync();
}

// Reads the beginning of the file. Returns this rank's entry; with offset 0 after an error, which
// the file keeps.
Entry read_beginning(nagaya_checkpoint& checkpoint, CheckpointFile& file) {
  std::vector<std::byte> beginning(sizeof(Header) + checkpoint.shares.size() * sizeof(Entry));
  file.read(beginning.data(), beginning.size(), 0);
  file.finish();
  if (file.error() != 0) return {};
  Header header;
  std::memcpy(&header, beginning.data(), sizeof header);
  const Header expected = [&] {
    Header one;
    const auto bytes = nagaya::checkpoint::encode(checkpoint.size, {});
    std::memcpy(&one, bytes.data(), sizeof one);
    one.entries = static_cast<uint32_t>(checkpoint.shares.size());
    return one;
  }();
  const Entry entry = nagaya::checkpoint::entry_of(beginning, checkpoint.rank);
  if (std::memcmp(&header, &expected, sizeof header) != 0 || entry.offset == 0) file.fail(-EINVAL);
  return entry;
}

// Gives the new file its name, on the storage too. Returns 0 or a negative errno.
int rename_on_storage(const std::string& path) {
  if (std::rename((path + kNewSuffix).c_str(), path.c_str()) != 0) return -errno;
  const std::string folder = std::filesystem::path(path).parent_path();
  const nagaya::base::Fd fd(
      ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return fd && ::fsync(fd.get()) == 0 ? 0 : -errno;
}

// Ends a checkpoint that has failed here or elsewhere.
void give_up(nagaya_checkpoint& checkpoint) {
  checkpoint.file->close();
  if (checkpoint.is_first()) ::unlink((checkpoint.path + kNewSuffix).c_str());
}

void find_members(nagaya_checkpoint& checkpoint, const nagaya_processes* members,
                  nagaya_checkpoint_layout layout) {
  checkpoint.rank = static_cast<uint32_t>(nagaya_processes_rank(members));
  checkpoint.size = static_cast<uint32_t>(nagaya_processes_size(members));
  nagaya_process own;
  nagaya_processes_at(members, checkpoint.rank, &own);
  const std::string node = std::to_string(own.node);
  if (layout == NAGAYA_CHECKPOINT_PER_NODE) checkpoint.suffix = "." + node;
  for (uint32_t rank = 0; rank < checkpoint.size; ++rank)
    if (layout == NAGAYA_CHECKPOINT_SHARED || nagaya_processes_are_here(members, rank, 1, 1) == 1)
      checkpoint.shares.push_back(rank);
}

}  // namespace

int nagaya_checkpoint_open(uint64_t context, const nagaya_processes* members,
                           nagaya_checkpoint_layout layout, nagaya_checkpoint** out) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (members == nullptr || out == nullptr ||
      (layout != NAGAYA_CHECKPOINT_SHARED && layout != NAGAYA_CHECKPOINT_PER_NODE))
    return -EINVAL;
  if (nagaya_processes_rank(members) < 0) return -EINVAL;
  return catch_errors([&] {
    auto checkpoint = std::make_unique<nagaya_checkpoint>();
    find_members(*checkpoint, members, layout);
    const int error = nagaya_coll_open(context, members, 0, &checkpoint->team);
    if (error == 0) *out = checkpoint.release();
    return error;
  });
}

int nagaya_checkpoint_close(nagaya_checkpoint* checkpoint) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (checkpoint == nullptr) return -EINVAL;
  delete checkpoint;
  return 0;
}

int nagaya_checkpoint_write(nagaya_checkpoint* checkpoint, const char* path,
                            const nagaya_checkpoint_piece* pieces, size_t count) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (checkpoint == nullptr || path == nullptr || (pieces == nullptr && count != 0)) return -EINVAL;
  if (checkpoint->is_pending) return -EBUSY;
  return catch_errors([&] {
    CheckpointFile& file = checkpoint->file.emplace();
    checkpoint->path = path + checkpoint->suffix;
    const std::string name = checkpoint->path + kNewSuffix;
    if (checkpoint->is_first()) file.open(name, O_WRONLY | O_CREAT | O_TRUNC);
    const auto all = exchange(*checkpoint, {bytes_of({pieces, count}), file.error()});
    const int error = first_error(all);
    if (error != 0) {
      give_up(*checkpoint);
      return error;
    }
    if (!checkpoint->is_first()) file.open(name, O_WRONLY);
    write_part(*checkpoint, all, {pieces, count});
    checkpoint->is_pending = true;  // an error of a request is the wait's
    return 0;
  });
}

int nagaya_checkpoint_wait(nagaya_checkpoint* checkpoint) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (checkpoint == nullptr) return -EINVAL;
  if (!checkpoint->is_pending) return 0;
  return catch_errors([&] {
    checkpoint->is_pending = false;
    checkpoint->file->close();
    int error = agree(*checkpoint, checkpoint->file->error());
    if (error != 0) {
      give_up(*checkpoint);
      return error;
    }
    if (checkpoint->is_first()) error = rename_on_storage(checkpoint->path);
    return agree(*checkpoint, error);
  });
}

int nagaya_checkpoint_read(nagaya_checkpoint* checkpoint, const char* path,
                           const nagaya_checkpoint_piece* pieces, size_t count) {
  if (Endpoint::own() == nullptr) return -ESRCH;
  if (checkpoint == nullptr || path == nullptr || (pieces == nullptr && count != 0)) return -EINVAL;
  if (checkpoint->is_pending) return -EBUSY;
  return catch_errors([&] {
    CheckpointFile file;
    file.open(path + checkpoint->suffix, O_RDONLY);
    const Entry own = read_beginning(*checkpoint, file);
    if (file.error() == 0 && own.bytes != bytes_of({pieces, count})) file.fail(-EMSGSIZE);
    uint64_t offset = own.offset;
    for (const nagaya_checkpoint_piece& piece : Pieces(pieces, count)) {
      file.read(piece.data, piece.bytes, offset);
      offset += piece.bytes;
    }
    file.close();
    return agree(*checkpoint, file.error());
  });
}
