// SPDX-License-Identifier: BSD-3-Clause
// pmi1_server_target.h - ranks that send any bytes to the launcher's PMI-1 server. The byte 0xff in
// the input switches to the next connection.
#pragma once

#include <deque>
#include <string_view>
#include <vector>

#include "launch/pmi1_server.h"
#include "targets.h"

namespace nagaya::fuzz {

class Pmi1Launcher : public tools::LauncherServices {
 public:
  Pmi1Launcher() { start({{{"a"}, 1, "", {}}, {{"b"}, 1, "", {}}}, {}); }

  const tools::ParallelJob& spawn(tools::RankId, std::vector<tools::Application> applications,
                                  std::map<std::string, std::string> preset_values) override {
    if (jobs_.size() > 2) throw base::Error(-EAGAIN, "no room");
    return start(std::move(applications), std::move(preset_values));
  }
  void abort(tools::RankId, int, const std::string&) override { server_.remove(0); }
  void mpi_started(tools::RankId) override {}
  void mpi_ended(tools::RankId) override {}

  // Lets connection `number`, modulo how many there are, say the bytes. Its answers are lines.
  void say(size_t number, std::string_view bytes) {
    const int end = ends_[number % ends_.size()].get();
    ::send(end, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    loop_.serve_once(0);
    std::string answers(64 << 10, '\0');
    const ssize_t count = ::recv(end, answers.data(), answers.size(), MSG_DONTWAIT);
    if (count <= 0) return;
    answers.resize(static_cast<size_t>(count));
    if (!answers.starts_with("cmd=") || answers.back() != '\n') std::abort();
  }

 private:
  const tools::ParallelJob& start(std::vector<tools::Application> applications,
                                  std::map<std::string, std::string> preset_values) {
    const auto id = static_cast<uint32_t>(jobs_.size());
    const tools::ParallelJob& job =
        jobs_.emplace_back(tools::ParallelJob{.id = id,
                                              .name = "job",
                                              .applications = std::move(applications),
                                              .preset_values = std::move(preset_values)});
    server_.add(job);
    // Rank 0 has two connections.
    for (const uint32_t rank : {0u, 0u, job.size() - 1})
      ends_.push_back(server_.connect({id, rank}));
    return job;
  }

  tools::EventLoop loop_;
  std::deque<tools::ParallelJob> jobs_;
  tools::Pmi1Server server_{loop_, *this};
  std::vector<base::Fd> ends_;
};

inline void ask_pmi1_server(const uint8_t* data, size_t bytes) {
  std::string_view rest(reinterpret_cast<const char*>(data), bytes);
  Pmi1Launcher launcher;
  for (size_t connection = 0; !rest.empty(); ++connection) {
    const std::string_view piece = rest.substr(0, rest.find('\xff'));
    launcher.say(connection, piece);
    rest.remove_prefix(std::min(rest.size(), piece.size() + 1));
  }
}

}  // namespace nagaya::fuzz
