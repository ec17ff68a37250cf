// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmi1_server.h"

#include <sys/socket.h>

#include <cerrno>
#include <string_view>
#include <utility>

#include "launch/pmi1_spawn.h"
#include "tool.h"

namespace nagaya::tools {
namespace {

constexpr size_t kMaxValues = 1 << 18;  // of a job, and of published names

}  // namespace

Pmi1Server::~Pmi1Server() {
  while (!jobs_.empty()) remove(jobs_.begin()->first);
}

void Pmi1Server::add(const ParallelJob& description) {
  Values values = description.preset_values;
  values["PMI_process_mapping"] = "(vector,(0,1," + std::to_string(description.size()) + "))";
  jobs_.emplace(description.id, Job{description, std::move(values), {}, {}, {}});
}

void Pmi1Server::remove(uint32_t id) {
  const auto job = jobs_.find(id);
  if (job == jobs_.end()) return;
  while (!job->second.connections.empty()) close(**job->second.connections.begin());
  jobs_.erase(job);
}

base::Fd Pmi1Server::connect(RankId rank) {
  Job& job = jobs_.at(rank.job);
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    base::throw_errno("cannot make a connection for PMI");
  base::Fd own(ends[0]), other(ends[1]);
  const auto connection = std::make_shared<Connection>(rank, job, std::move(own));
  loop_.watch(connection->socket.get(), [this, connection] { serve(*connection); });
  job.connections.insert(connection);
  return other;
}

void Pmi1Server::serve(Connection& connection) {
  char bytes[16 << 10];
  const ssize_t count = ::recv(connection.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return close(connection);
  try {
    connection.reader.append({bytes, static_cast<size_t>(count)});
    while (connection.socket) {
      const auto command = connection.reader.next();
      if (!command) return;
      const std::string answer = (this->*handler_of(command->name))(connection, *command);
      if (!answer.empty()) send(connection, answer);
    }
  } catch (const base::Error& error) {
    complain_once(connection, std::string("malformed PMI message: ") + error.what());
    close(connection);
  }
}

// A client reads each answer before it asks again: the socket has room for far more of them.
void Pmi1Server::send(Connection& connection, const std::string& answer) {
  if (!connection.socket) return;
  const std::string line = answer + "\n";
  const ssize_t sent =
      ::send(connection.socket.get(), line.data(), line.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  if (sent == static_cast<ssize_t>(line.size())) return;
  if (sent >= 0 || errno == EAGAIN) complain_once(connection, "does not read its PMI connection");
  close(connection);
}

void Pmi1Server::close(Connection& connection) {
  if (!connection.socket) return;
  loop_.forget(connection.socket.get());
  connection.socket.reset();
  connection.job.connections.erase(connection.shared_from_this());
}

void Pmi1Server::complain_once(const Connection& connection, const std::string& text) {
  const auto [job, rank] = connection.rank;
  if (!connection.job.complained_ranks.insert(rank).second) return;
  complain("rank " + std::to_string(rank) + (job == 0 ? "" : " of job " + std::to_string(job)) +
           ": " + text);
}

bool Pmi1Server::has_room(const Values& values, const std::string& key) {
  return values.size() < kMaxValues || values.contains(key);
}

auto Pmi1Server::handler_of(const std::string& command) -> Handler Pmi1Server::* {
  static const std::map<std::string_view, Handler Pmi1Server::*> kHandlers = {
      {"init", &Pmi1Server::init},
      {"finalize", &Pmi1Server::finalize},
      {"abort", &Pmi1Server::abort},
      {"get_maxes", &Pmi1Server::get_maxes},
      {"get_appnum", &Pmi1Server::get_appnum},
      {"get_universe_size", &Pmi1Server::get_universe_size},
      {"get_my_kvsname", &Pmi1Server::get_my_kvsname},
      {"put", &Pmi1Server::put},
      {"get", &Pmi1Server::get},
      {"barrier_in", &Pmi1Server::barrier_in},
      {"spawn", &Pmi1Server::spawn},
      {"publish_name", &Pmi1Server::publish_name},
      {"unpublish_name", &Pmi1Server::unpublish_name},
      {"lookup_name", &Pmi1Server::lookup_name}};
  const auto found = kHandlers.find(command);
  if (found == kHandlers.end()) throw pmi1_error("unknown command " + command.substr(0, 40));
  return found->second;
}

std::string Pmi1Server::init(Connection& connection, const Pmi1Command& command) {
  const std::string answer = "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=";
  if (command.fields().text("pmi_version") != "1") return answer + "-1";
  services_.mpi_started(connection.rank);
  return answer + "0";
}

std::string Pmi1Server::finalize(Connection& connection, const Pmi1Command&) {
  services_.mpi_ended(connection.rank);
  return "cmd=finalize_ack";
}

// The connection stays open, and the rank waits, until the launcher ends it.
std::string Pmi1Server::abort(Connection& connection, const Pmi1Command& command) {
  const Pmi1Fields& fields = command.fields();
  const int exit_code = fields.number_or<int>("exitcode", 1);
  const std::string text = fields.text_or("message", fields.text_or("error_msg", ""));
  loop_.forget(connection.socket.get());
  connection.reader = Pmi1Reader();
  services_.abort(connection.rank, exit_code, text);
  return "";
}

std::string Pmi1Server::get_maxes(Connection&, const Pmi1Command&) {
  return "cmd=maxes kvsname_max=" + std::to_string(kPmi1NameMaxBytes) +
         " keylen_max=" + std::to_string(kPmi1KeyMaxBytes) +
         " vallen_max=" + std::to_string(kPmi1ValueMaxBytes);
}

std::string Pmi1Server::get_appnum(Connection& connection, const Pmi1Command&) {
  return "cmd=appnum appnum=" +
         std::to_string(connection.job.description.application_of(connection.rank.rank));
}

// -1: not known, hydra's answer, too, unless its user gives a number. Programs that read
// MPI_UNIVERSE_SIZE spawn nothing where a number is not larger than that of their ranks.
std::string Pmi1Server::get_universe_size(Connection&, const Pmi1Command&) {
  return "cmd=universe_size size=-1";
}

std::string Pmi1Server::get_my_kvsname(Connection& connection, const Pmi1Command&) {
  return "cmd=my_kvsname kvsname=" + connection.job.description.name;
}

std::string Pmi1Server::put(Connection& connection, const Pmi1Command& command) {
  const std::string& key = command.fields().text("key", kPmi1KeyMaxBytes);
  const std::string& value = command.fields().text("value", kPmi1ValueMaxBytes);
  Values& values = connection.job.values;
  if (key.starts_with("PMI_")) return "cmd=put_result rc=-1 msg=key_is_reserved";
  if (!has_room(values, key)) return "cmd=put_result rc=-1 msg=no_room";
  values[key] = value;
  return "cmd=put_result rc=0 msg=success";
}

std::string Pmi1Server::get(Connection& connection, const Pmi1Command& command) {
  const std::string& key = command.fields().text("key", kPmi1KeyMaxBytes);
  const Values& values = connection.job.values;
  const auto found = values.find(key);
  if (found == values.end())
    return "cmd=get_result rc=-1 msg=key_" + key + "_not_found value=unknown";
  return "cmd=get_result rc=0 msg=success value=" + found->second;
}

std::string Pmi1Server::barrier_in(Connection& connection, const Pmi1Command&) {
  Job& job = connection.job;
  job.in_barrier[connection.rank.rank] = connection.weak_from_this();
  if (job.in_barrier.size() < job.description.size()) return "";
  for (const auto& [rank, waiting] : std::exchange(job.in_barrier, {}))
    if (const auto open = waiting.lock()) send(*open, "cmd=barrier_out");
  return "";
}

std::string Pmi1Server::spawn(Connection& connection, const Pmi1Command& command) {
  try {
    Pmi1Spawn wanted = spawn_of(command);
    services_.spawn(connection.rank, std::move(wanted.applications),
                    std::move(wanted.preset_values));
    return "cmd=spawn_result rc=0";
  } catch (const base::Error& error) {
    complain("MPI_Comm_spawn: " + std::string(error.what()));
    return "cmd=spawn_result rc=-1 msg=spawn_failed";
  }
}

std::string Pmi1Server::publish_name(Connection&, const Pmi1Command& command) {
  const std::string& service = command.fields().text("service", kPmi1ValueMaxBytes);
  const std::string& port = command.fields().text("port", kPmi1ValueMaxBytes);
  const bool is_new = has_room(published_, service) && published_.emplace(service, port).second;
  return is_new ? "cmd=publish_result rc=0 msg=success"
                : "cmd=publish_result rc=1 msg=key_already_present";
}

std::string Pmi1Server::unpublish_name(Connection&, const Pmi1Command& command) {
  return published_.erase(command.fields().text("service")) != 0
             ? "cmd=unpublish_result rc=0 msg=success"
             : "cmd=unpublish_result rc=1 msg=service_not_found";
}

std::string Pmi1Server::lookup_name(Connection&, const Pmi1Command& command) {
  const auto found = published_.find(command.fields().text("service"));
  return found == published_.end() ? "cmd=lookup_result rc=1 msg=service_not_found"
                                   : "cmd=lookup_result rc=0 msg=success port=" + found->second;
}

}  // namespace nagaya::tools
