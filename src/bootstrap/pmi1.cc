// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmi1.h"

#include <dlfcn.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/error.h"

namespace nagaya::bootstrap {
namespace {

using base::Error;

constexpr size_t kAnswerMaxBytes = 64 << 10;
constexpr size_t kLengthDigits = 8;
constexpr size_t kPieceMin = 16;

Error strange(const std::string& answer) {
  return {-EPROTO, "the launcher gives a strange answer by PMI: " + answer.substr(0, 200)};
}

// Asks MPICH's own `function`, from wherever the program has loaded it. False, too, if it is not
// loaded.
bool says_yes(const char* function) {
  for (const char* library : {"", "libmpich.so.12", "libmpi.so.12"}) {
    void* const loaded = *library == '\0' ? ::dlopen(nullptr, RTLD_LAZY)
                                          : ::dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    if (loaded == nullptr) continue;
    const auto ask = reinterpret_cast<int (*)(int*)>(::dlsym(loaded, function));
    int yes = 0;
    if (ask != nullptr && ask(&yes) == 0 && yes != 0) return true;
  }
  return false;
}
// Stays true for ever, also after MPI_Finalize.
bool mpi_was_started() {
  return says_yes("MPI_Initialized");
}

// The word after " name=" in a line.
std::string field(const std::string& line, const std::string& name) {
  const std::string beginning = " " + name + "=";
  const size_t at = (" " + line).find(beginning);
  if (at == std::string::npos) throw strange(line);
  const size_t begin = at + beginning.size() - 1;
  return line.substr(begin, line.find(' ', begin) - begin);
}

template <class Number>
Number number(const std::string& digits, int base) {
  Number value{};
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc{} || stop != end) throw strange(digits);
  return value;
}

std::string hexadecimal(const std::string& bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string bytes_of(const std::string& text) {
  std::string bytes;
  for (size_t at = 0; at < text.size(); at += 2)
    bytes += static_cast<char>(number<unsigned char>(text.substr(at, 2), 16));
  return bytes;
}

std::string length_digits(size_t bytes) {
  std::string digits(kLengthDigits, '0');
  for (size_t n = kLengthDigits; n > 0; bytes /= 10)
    digits[--n] = static_cast<char>('0' + bytes % 10);
  return digits;
}

}  // namespace

Pmi1Meeting::Pmi1Meeting(int descriptor, uint32_t rank)
    : descriptor_(descriptor), rank_(rank), session_is_own_(!mpi_was_started()) {
  if (says_yes("MPI_Finalized"))
    throw Error(-EPIPE, "MPI_Finalize has closed PMI_FD: call nagaya_comm_init before it");
  if (session_is_own_) {
    const auto opened = ask("cmd=init pmi_version=1 pmi_subversion=1", "response_to_init");
    if (field(opened, "rc") != "0") throw strange(opened);
  }
  const auto longest = number<size_t>(field(ask("cmd=get_maxes", "maxes"), "vallen_max"), 10);
  if (longest <= kPieceMin) throw Error(-EPROTO, "the launcher's PMI has no room for values");
  piece_length_ = longest - 1;  // some launchers count the zero at the end
  kvs_ = field(ask("cmd=get_my_kvsname", "my_kvsname"), "kvsname");
}

// If MPI has been started meanwhile, MPI will close session and descriptor, or has done so.
Pmi1Meeting::~Pmi1Meeting() {
  if (!session_is_own_ || mpi_was_started()) return;
  try {
    ask("cmd=finalize", "finalize_ack");
  } catch (const Error&) {
    return;  // the launcher is gone
  }
}

std::string Pmi1Meeting::name_of(uint32_t rank, const std::string& key, size_t piece) const {
  return " kvsname=" + kvs_ + " key=" + key + "." + std::to_string(rank) + "." +
         std::to_string(piece);
}

void Pmi1Meeting::publish(const std::string& key, const std::string& bytes) {
  const std::string text = length_digits(bytes.size()) + hexadecimal(bytes);
  for (size_t at = 0, piece = 0; at < text.size(); at += piece_length_, ++piece) {
    const auto put =
        ask("cmd=put" + name_of(rank_, key, piece) + " value=" + text.substr(at, piece_length_),
            "put_result");
    if (field(put, "rc") != "0") throw strange(put);
  }
}

void Pmi1Meeting::fence() {
  ask("cmd=barrier_in", "barrier_out");
}

std::string Pmi1Meeting::read(uint32_t rank, const std::string& key) {
  std::string text;
  size_t length = kLengthDigits;
  for (size_t piece = 0; text.size() < length; ++piece) {
    const auto got = ask("cmd=get" + name_of(rank, key, piece), "get_result");
    if (field(got, "rc") != "0") throw strange(got);
    const std::string value = field(got, "value");
    if (piece == 0) length += 2 * number<size_t>(value.substr(0, kLengthDigits), 10);
    if (value.size() != std::min(piece_length_, length - text.size())) throw strange(got);
    text += value;
  }
  return bytes_of(text.substr(kLengthDigits));
}

std::string Pmi1Meeting::ask(const std::string& question, const char* expected_answer) {
  const std::string line = question + "\n";
  for (size_t sent = 0; sent < line.size();) {
    const ssize_t count = ::send(descriptor_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) base::throw_errno("PMI_FD, the launcher's connection");
    sent += static_cast<size_t>(count);
  }
  const std::string answered = answer();
  if (field(answered, "cmd") != expected_answer) throw strange(answered);
  return answered;
}

// Reads one line: the launcher sends nothing unasked.
std::string Pmi1Meeting::answer() {
  std::string line;
  while (line.empty() || line.back() != '\n') {
    pollfd readable{descriptor_, POLLIN, 0};
    const int ready = ::poll(&readable, 1, kStartTimeoutMs);
    if (ready == 0)
      throw Error(-ETIMEDOUT, "the launcher has not answered by PMI_FD within " +
                                  std::to_string(kStartTimeoutMs / 1000) +
                                  " s: it hangs, or a process of the job does not call "
                                  "nagaya_comm_init");
    char part[4096];
    const ssize_t count = ready < 0 ? -1 : ::recv(descriptor_, part, sizeof part, 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) base::throw_errno("PMI_FD, the launcher's connection");
    if (count == 0) throw Error(-EPIPE, "the launcher has closed PMI_FD: the job ends");
    line.append(part, static_cast<size_t>(count));
    if (line.size() > kAnswerMaxBytes) throw strange(line);
  }
  line.pop_back();
  if (line.find('\n') != std::string::npos) throw strange(line);
  return line;
}

}  // namespace nagaya::bootstrap
