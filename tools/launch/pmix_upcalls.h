// SPDX-License-Identifier: BSD-3-Clause
// pmix_upcalls.h - what libpmix's server asks of its launcher, carried from libpmix's thread to
// that of the launcher.
#pragma once

#include <pmix_server.h>

#include <functional>
#include <string>
#include <vector>

#include "launch/event_loop.h"
#include "launch/parallel_job.h"
#include "launch/pmix_names.h"

namespace nagaya::tools {

// Called on the launcher's thread. Each answer is called once, at once or later.
class PmixRequests {
 public:
  virtual ~PmixRequests() = default;

  virtual void connected(const PmixProcess& process, PmixAnswer answer) = 0;
  virtual void finalized(const PmixProcess& process, PmixAnswer answer) = 0;
  virtual void abort(const PmixProcess& process, int exit_code, const std::string& text,
                     PmixAnswer answer) = 0;

  virtual void publish(const PmixProcess& process, std::vector<PublishedName> names,
                       PmixAnswer answer) = 0;
  virtual void look_up(NameQuery query, bool waits,
                       std::optional<PublishedNames::Clock::time_point> deadline,
                       PublishedNames::Found found) = 0;
  virtual void unpublish(const NameQuery& query, PmixAnswer answer) = 0;

  // `topic`: of a message that many ranks may send; "" if it has none.
  virtual void log(const PmixProcess& process, const std::string& text, const std::string& topic,
                   PmixAnswer answer) = 0;

  // The answer's text is the name of the new job.
  using SpawnAnswer = std::function<void(pmix_status_t, const std::string&)>;
  virtual void spawn(const PmixProcess& parent, std::vector<Application> applications,
                     SpawnAnswer answer) = 0;
};

// Makes the functions of module_for_libpmix() call `requests` on the thread of `loop`; both must
// live until stop_upcalls(). libpmix knows one server in a process.
void start_upcalls(EventLoop& loop, PmixRequests& requests);
// From now on libpmix's requests fail; those that are still posted will not be made.
void stop_upcalls();

// Returns the functions for PMIx_server_init() of libpmix's major version. It may be newer than the
// header, with functions that this does not know: it finds none of those. Groups are served from
// version 5 on: before, libpmix's answer to its own newer clients is malformed.
pmix_server_module_t* module_for_libpmix(int version);

}  // namespace nagaya::tools
