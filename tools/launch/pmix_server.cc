// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_server.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <future>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "launch/pmix_info.h"
#include "launch/pmix_job_info.h"
#include "launch/pmix_library.h"
#include "launch/pmix_names.h"
#include "launch/pmix_upcalls.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

using base::Error;

constexpr size_t kMostTopics = 1000;
constexpr auto kPatience = std::chrono::seconds(2);

std::string host_name() {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  return name.data();
}

pmix_proc_t process_of(const ParallelJob& job, uint32_t rank) {
  pmix_proc_t process{};
  job.name.copy(process.nspace, PMIX_MAX_NSLEN);
  process.rank = rank;
  return process;
}

}  // namespace

class PmixServer::Implementation : public PmixRequests {
 public:
  Implementation(EventLoop& loop, LauncherServices& services, const PmixLibrary& library,
                 const std::string& folder, hwloc_topology_t topology)
      : services_(services), folder_(folder), library_(library), names_(loop) {
    if (library_.uses(reinterpret_cast<void*>(&hwloc_topology_load), "hwloc_topology_load"))
      topology_.topology = topology;
    start_upcalls(loop, *this);
    try {
      start();
    } catch (const Error&) {
      stop_upcalls();
      throw;
    }
  }

  ~Implementation() override {
    while (!jobs_.empty()) remove(jobs_.begin()->first);
    stop_upcalls();
  }

  void add(const ParallelJob& job, const Bindings& bindings);
  void remove(uint32_t job);
  std::vector<std::string> environment_of(RankId rank);

  void connected(const PmixProcess& process, PmixAnswer answer) override;
  void finalized(const PmixProcess& process, PmixAnswer answer) override;
  void abort(const PmixProcess& process, int exit_code, const std::string& text,
             PmixAnswer answer) override;
  void publish(const PmixProcess& process, std::vector<PublishedName> names,
               PmixAnswer answer) override;
  void look_up(NameQuery query, bool waits,
               std::optional<PublishedNames::Clock::time_point> deadline,
               PublishedNames::Found found) override;
  void unpublish(const NameQuery& query, PmixAnswer answer) override;
  void log(const PmixProcess& process, const std::string& text, const std::string& topic,
           PmixAnswer answer) override;
  void spawn(const PmixProcess& parent, std::vector<Application> applications,
             SpawnAnswer answer) override;

 private:
  void start();
  std::string locality_of(const std::string& processors) const;
  std::optional<RankId> rank_of(const PmixProcess& process) const;

  LauncherServices& services_;
  const std::string folder_;
  const PmixLibrary library_;
  PublishedNames names_;
  pmix_topology_t topology_{const_cast<char*>("hwloc"), nullptr};
  std::map<uint32_t, const ParallelJob*> jobs_;
  std::set<std::string> logged_topics_;
  bool is_held_up_ = false;  // libpmix has not answered in time
};

void PmixServer::Implementation::start() {
  PmixInfo info;
  info.add_text(PMIX_SERVER_TMPDIR, folder_);
  info.add_text(PMIX_SYSTEM_TMPDIR, folder_);
  if (topology_.topology != nullptr) info.add_topology(PMIX_TOPOLOGY2, &topology_);
  library_.start_server(module_for_libpmix(library_.major_version()), info);
}

void PmixServer::Implementation::add(const ParallelJob& job, const Bindings& bindings) {
  std::vector<PmixPlace> places;
  for (const std::string& processors : bindings)
    places.push_back({processors, locality_of(processors)});
  PmixInfo info = pmix_job_info(job, places, host_name(), folder_);
  const pmix_proc_t all = process_of(job, PMIX_RANK_WILDCARD);
  library_.check(library_.register_nspace(all.nspace, static_cast<int>(job.size()), info.data(),
                                          info.size(), nullptr, nullptr),
                 "PMIx_server_register_nspace");
  for (uint32_t rank = 0; rank < job.size(); ++rank) {
    const pmix_proc_t process = process_of(job, rank);
    library_.check(
        library_.register_client(&process, ::geteuid(), ::getegid(), nullptr, nullptr, nullptr),
        "PMIx_server_register_client");
  }
  jobs_[job.id] = &job;
}

void PmixServer::Implementation::remove(uint32_t job) {
  const auto found = jobs_.find(job);
  if (found == jobs_.end()) return;
  const std::string name = found->second->name;
  jobs_.erase(found);
  names_.job_has_ended(name);
  pmix_nspace_t nspace{};
  name.copy(nspace, PMIX_MAX_NSLEN);
  // libpmix also removes files that the job's ranks have left. But its thread may be held up.
  auto* const removed = new std::promise<void>;
  const std::future<void> is_removed = removed->get_future();
  const auto tell = [](pmix_status_t, void* removed) {
    static_cast<std::promise<void>*>(removed)->set_value();
    delete static_cast<std::promise<void>*>(removed);
  };
  library_.deregister_nspace(nspace, tell, removed);
  if (!is_held_up_) is_held_up_ = is_removed.wait_for(kPatience) == std::future_status::timeout;
}

std::vector<std::string> PmixServer::Implementation::environment_of(RankId rank) {
  const pmix_proc_t process = process_of(*jobs_.at(rank.job), rank.rank);
  char** variables = nullptr;
  library_.check(library_.setup_fork(&process, &variables), "PMIx_server_setup_fork");
  std::vector<std::string> environment;
  for (char** variable = variables; variable != nullptr && *variable != nullptr; ++variable) {
    environment.emplace_back(*variable);
    std::free(*variable);
  }
  std::free(variables);
  return environment;
}

// Returns "" if the rank is not bound, or if nobody knows.
std::string PmixServer::Implementation::locality_of(const std::string& processors) const {
  if (processors.empty() || topology_.topology == nullptr) return "";
  const hwloc_bitmap_t bitmap = hwloc_bitmap_alloc();
  hwloc_bitmap_list_sscanf(bitmap, processors.c_str());
  const pmix_cpuset_t set{topology_.source, bitmap};
  char* text = nullptr;
  std::string locality;
  if (library_.generate_locality_string(&set, &text) == PMIX_SUCCESS && text != nullptr)
    locality = text;
  std::free(text);
  hwloc_bitmap_free(bitmap);
  return locality;
}

std::optional<RankId> PmixServer::Implementation::rank_of(const PmixProcess& process) const {
  for (const auto& [id, job] : jobs_)
    if (job->name == process.job && process.rank < job->size()) return RankId{id, process.rank};
  return std::nullopt;
}

void PmixServer::Implementation::connected(const PmixProcess& process, PmixAnswer answer) {
  if (const auto rank = rank_of(process)) services_.mpi_started(*rank);
  answer(PMIX_SUCCESS);
}

void PmixServer::Implementation::finalized(const PmixProcess& process, PmixAnswer answer) {
  names_.process_has_ended(process);
  if (const auto rank = rank_of(process)) services_.mpi_ended(*rank);
  answer(PMIX_SUCCESS);
}

void PmixServer::Implementation::abort(const PmixProcess& process, int exit_code,
                                       const std::string& text, PmixAnswer answer) {
  if (const auto rank = rank_of(process)) services_.abort(*rank, exit_code, text);
  answer(PMIX_SUCCESS);
}

void PmixServer::Implementation::publish(const PmixProcess& process,
                                         std::vector<PublishedName> names, PmixAnswer answer) {
  answer(rank_of(process) ? names_.publish(std::move(names)) : PMIX_ERR_NOT_FOUND);
}

void PmixServer::Implementation::look_up(NameQuery query, bool waits,
                                         std::optional<PublishedNames::Clock::time_point> deadline,
                                         PublishedNames::Found found) {
  if (!rank_of(query.process)) return found(PMIX_ERR_NOT_FOUND, {});
  names_.look_up(std::move(query), waits, deadline, std::move(found));
}

void PmixServer::Implementation::unpublish(const NameQuery& query, PmixAnswer answer) {
  names_.unpublish(query);
  answer(PMIX_SUCCESS);
}

// Prints one message for each topic, as mpirun does.
void PmixServer::Implementation::log(const PmixProcess& process, const std::string& text,
                                     const std::string& topic, PmixAnswer answer) {
  const bool is_new = topic.empty() || logged_topics_.size() == kMostTopics ||
                      logged_topics_.insert(process.job + topic).second;
  if (is_new) std::fputs(text.c_str(), stderr);
  answer(PMIX_SUCCESS);
}

void PmixServer::Implementation::spawn(const PmixProcess& parent,
                                       std::vector<Application> applications, SpawnAnswer answer) {
  const auto rank = rank_of(parent);
  if (!rank) return answer(PMIX_ERR_NOT_FOUND, "");
  try {
    answer(PMIX_SUCCESS, services_.spawn(*rank, std::move(applications), {}).name);
  } catch (const Error& error) {
    complain("MPI_Comm_spawn: " + std::string(error.what()));
    answer(error.code() == -ENOENT ? PMIX_ERR_JOB_EXE_NOT_FOUND : PMIX_ERR_JOB_FAILED_TO_LAUNCH,
           "");
  }
}

PmixServer::PmixServer(EventLoop& loop, LauncherServices& services, const PmixLibrary& library,
                       const std::string& folder, hwloc_topology_t topology)
    : implementation_(std::make_unique<Implementation>(loop, services, library, folder, topology)) {
}

PmixServer::~PmixServer() = default;

void PmixServer::add(const ParallelJob& job, const Bindings& bindings) {
  implementation_->add(job, bindings);
}

void PmixServer::remove(uint32_t job) {
  implementation_->remove(job);
}

std::vector<std::string> PmixServer::environment_of(RankId rank) {
  return implementation_->environment_of(rank);
}

}  // namespace nagaya::tools
