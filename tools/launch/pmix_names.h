// SPDX-License-Identifier: BSD-3-Clause
// pmix_names.h - the data that ranks publish under names for ranks of any job to look up:
// MPI_Publish_name, and the addresses of MPI_Comm_spawn and MPI_Comm_connect.
#pragma once

#include <pmix_common.h>

#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <vector>

#include "launch/event_loop.h"

namespace nagaya::tools {

struct PmixProcess {
  std::string job;  // ParallelJob::name
  uint32_t rank = 0;
  bool operator==(const PmixProcess&) const = default;
};

struct PublishedValue {
  pmix_data_type_t type = PMIX_UNDEF;
  std::string bytes;  // of a text, of a byte object or of a number
};

struct PublishedName {
  std::string name;
  PublishedValue value;
  PmixProcess publisher;
  pmix_persistence_t persistence = PMIX_PERSIST_SESSION;
  bool is_for_own_job = false;  // only ranks of the publisher's job find it
};

// Which names a call is about.
struct NameQuery {
  PmixProcess process;  // that asks
  std::vector<std::string> names;
  bool is_for_own_job = false;  // of names that its own job has published
};

using PmixAnswer = std::function<void(pmix_status_t)>;

class PublishedNames {
 public:
  using Found = std::function<void(pmix_status_t, const std::vector<PublishedName>&)>;
  using Clock = std::chrono::steady_clock;

  explicit PublishedNames(EventLoop& loop);
  ~PublishedNames();

  // Publishes all names or, if one of them is taken or there are too many, none.
  pmix_status_t publish(std::vector<PublishedName> names);
  // Calls `found` with the names that are published: at once, or if it is to wait, when all are,
  // or with PMIX_ERR_TIMEOUT at the deadline.
  void look_up(NameQuery query, bool waits, std::optional<Clock::time_point> deadline, Found found);
  // Takes back those of the names that the process itself has published.
  void unpublish(const NameQuery& query);

  // Forgets what the process has published for as long as it runs.
  void process_has_ended(const PmixProcess& process);
  // Forgets what the job has published for as long as it runs, and gives up what its ranks wait
  // for.
  void job_has_ended(const std::string& job);

 private:
  struct Waiting {
    NameQuery query;
    std::optional<Clock::time_point> deadline;
    Found found;
  };

  std::vector<PublishedName> find(const NameQuery& query) const;
  void forget_read(const std::vector<PublishedName>& names);
  template <class Condition>
  void forget_if(Condition is_forgotten);
  template <class Condition>
  void end_waiting(pmix_status_t status, Condition is_ended);
  void serve_waiting();
  void end_late();
  void set_timer();

  EventLoop& loop_;
  base::Fd timer_;
  std::list<PublishedName> published_;
  size_t published_bytes_ = 0;
  std::list<Waiting> waiting_;
};

}  // namespace nagaya::tools
