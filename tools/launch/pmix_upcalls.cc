// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_upcalls.h"

#include <cstring>
#include <mutex>
#include <optional>
#include <utility>

#include "base/error.h"
#include "launch/pmix_group.h"
#include "launch/pmix_spawn.h"

namespace nagaya::tools {
namespace {

// libpmix's functions have no argument for the caller's own data, and its threads run until the
// process ends.
struct {
  std::mutex mutex;  // of `loop`
  EventLoop* loop = nullptr;
  PmixRequests* requests = nullptr;  // belongs to the launcher's thread
} receiver;

template <class Function>
pmix_status_t post(Function function) {
  const std::lock_guard<std::mutex> guard(receiver.mutex);
  if (receiver.loop == nullptr) return PMIX_ERR_NOT_AVAILABLE;
  receiver.loop->post([function = std::move(function)] {
    if (receiver.requests != nullptr) function(*receiver.requests);
  });
  return PMIX_SUCCESS;
}

PmixProcess copied(const pmix_proc_t* process) {
  return {process->nspace, process->rank};
}

PmixAnswer answer_by(pmix_op_cbfunc_t function, void* context) {
  return [=](pmix_status_t status) {
    if (function != nullptr) function(status, context);
  };
}

bool has_key(const pmix_info_t& item, const char* key) {
  return std::strncmp(item.key, key, PMIX_MAX_KEYLEN) == 0;
}

std::string text_of(const pmix_info_t& item) {
  return item.value.type == PMIX_STRING && item.value.data.string != nullptr
             ? item.value.data.string
             : "";
}

// Numbers are stored in the value itself.
bool is_number(pmix_data_type_t type) {
  return type >= PMIX_BOOL && type <= PMIX_STATUS && type != PMIX_STRING;
}

// Nothing for a type that no MPI publishes.
std::optional<PublishedValue> copied(const pmix_value_t& value) {
  if (value.type == PMIX_STRING && value.data.string != nullptr)
    return PublishedValue{value.type, value.data.string};
  if (value.type == PMIX_BYTE_OBJECT && value.data.bo.bytes != nullptr)
    return PublishedValue{value.type, {value.data.bo.bytes, value.data.bo.size}};
  if (!is_number(value.type)) return std::nullopt;
  return PublishedValue{value.type,
                        {reinterpret_cast<const char*>(&value.data), sizeof value.data}};
}

// The result points into `value`.
pmix_value_t as_pmix(const PublishedValue& value) {
  pmix_value_t result{};
  result.type = value.type;
  char* const bytes = const_cast<char*>(value.bytes.data());
  if (value.type == PMIX_STRING)
    result.data.string = bytes;
  else if (value.type == PMIX_BYTE_OBJECT)
    result.data.bo = {bytes, value.bytes.size()};
  else
    std::memcpy(&result.data, bytes, sizeof result.data);
  return result;
}

// The directives of a call of publish, lookup or unpublish.
struct Directives {
  bool is_for_own_job = false;
  pmix_persistence_t persistence = PMIX_PERSIST_SESSION;
  bool waits = false;
  std::optional<PublishedNames::Clock::time_point> deadline;
};

Directives directives_of(const pmix_info_t* items, size_t count) {
  Directives directives;
  for (size_t n = 0; n < count; ++n) {
    const pmix_value_t& value = items[n].value;
    if (has_key(items[n], PMIX_RANGE))
      directives.is_for_own_job = value.data.range == PMIX_RANGE_NAMESPACE;
    else if (has_key(items[n], PMIX_PERSISTENCE))
      directives.persistence = value.data.persist;
    else if (has_key(items[n], PMIX_WAIT))
      directives.waits = value.type != PMIX_BOOL || value.data.flag;
    else if (has_key(items[n], PMIX_TIMEOUT) && value.data.integer > 0)
      directives.deadline = PublishedNames::Clock::now() + std::chrono::seconds(value.data.integer);
  }
  return directives;
}

NameQuery query_of(const pmix_proc_t* process, char* const* names, bool is_for_own_job) {
  NameQuery query{copied(process), {}, is_for_own_job};
  for (; names != nullptr && *names != nullptr; ++names) query.names.emplace_back(*names);
  return query;
}

// libpmix 4 waits for no answer.
pmix_status_t connected(const pmix_proc_t* process, void*, pmix_info_t*, size_t,
                        pmix_op_cbfunc_t function, void* context) {
  return post([process = copied(process), answer = answer_by(function, context)](
                  PmixRequests& requests) { requests.connected(process, answer); });
}

pmix_status_t finalized(const pmix_proc_t* process, void*, pmix_op_cbfunc_t function,
                        void* context) {
  return post([process = copied(process), answer = answer_by(function, context)](
                  PmixRequests& requests) { requests.finalized(process, answer); });
}

pmix_status_t abort(const pmix_proc_t* process, void*, int exit_code, const char* text,
                    pmix_proc_t*, size_t, pmix_op_cbfunc_t function, void* context) {
  return post([=, process = copied(process), text = std::string(text != nullptr ? text : ""),
               answer = answer_by(function, context)](PmixRequests& requests) {
    requests.abort(process, exit_code, text, answer);
  });
}

// All ranks are on this node: their data is all there is.
pmix_status_t fence(const pmix_proc_t*, size_t, const pmix_info_t*, size_t, char* data,
                    size_t bytes, pmix_modex_cbfunc_t function, void* context) {
  auto* const copy = new std::string(data != nullptr ? std::string(data, bytes) : std::string());
  const auto release = [](void* copy) { delete static_cast<std::string*>(copy); };
  function(PMIX_SUCCESS, copy->data(), copy->size(), context, release, copy);
  return PMIX_SUCCESS;
}

// There is no other node whose server could have the data.
pmix_status_t data_of_other_node(const pmix_proc_t*, const pmix_info_t*, size_t,
                                 pmix_modex_cbfunc_t, void*) {
  return PMIX_ERR_NOT_FOUND;
}

// libpmix has seen all ranks arrive. It answers them by the function alone.
pmix_status_t connect_jobs(const pmix_proc_t*, size_t, const pmix_info_t*, size_t,
                           pmix_op_cbfunc_t function, void* context) {
  function(PMIX_SUCCESS, context);
  return PMIX_SUCCESS;
}

pmix_status_t publish(const pmix_proc_t* process, const pmix_info_t* items, size_t count,
                      pmix_op_cbfunc_t function, void* context) {
  const Directives directives = directives_of(items, count);
  std::vector<PublishedName> names;
  for (size_t n = 0; n < count; ++n) {
    if (std::strncmp(items[n].key, "pmix", 4) == 0) continue;  // a directive
    std::optional<PublishedValue> value = copied(items[n].value);
    if (!value) return PMIX_ERR_NOT_SUPPORTED;
    names.push_back({items[n].key, std::move(*value), copied(process), directives.persistence,
                     directives.is_for_own_job});
  }
  return post([process = copied(process), names = std::move(names),
               answer = answer_by(function, context)](PmixRequests& requests) {
    requests.publish(process, names, answer);
  });
}

void answer_look_up(pmix_status_t status, const std::vector<PublishedName>& names,
                    pmix_lookup_cbfunc_t function, void* context) {
  std::vector<pmix_pdata_t> data(names.size());
  for (size_t n = 0; n < names.size(); ++n) {
    std::strncpy(data[n].proc.nspace, names[n].publisher.job.c_str(), PMIX_MAX_NSLEN);
    data[n].proc.rank = names[n].publisher.rank;
    std::strncpy(data[n].key, names[n].name.c_str(), PMIX_MAX_KEYLEN);
    data[n].value = as_pmix(names[n].value);
  }
  function(status, data.data(), data.size(), context);
}

pmix_status_t look_up(const pmix_proc_t* process, char** names, const pmix_info_t* items,
                      size_t count, pmix_lookup_cbfunc_t function, void* context) {
  const Directives directives = directives_of(items, count);
  return post(
      [=, query = query_of(process, names, directives.is_for_own_job)](PmixRequests& requests) {
        requests.look_up(query, directives.waits, directives.deadline,
                         [=](pmix_status_t status, const std::vector<PublishedName>& found) {
                           answer_look_up(status, found, function, context);
                         });
      });
}

pmix_status_t unpublish(const pmix_proc_t* process, char** names, const pmix_info_t* items,
                        size_t count, pmix_op_cbfunc_t function, void* context) {
  const Directives directives = directives_of(items, count);
  return post([query = query_of(process, names, directives.is_for_own_job),
               answer = answer_by(function, context)](PmixRequests& requests) {
    requests.unpublish(query, answer);
  });
}

pmix_status_t spawn(const pmix_proc_t* parent, const pmix_info_t*, size_t, const pmix_app_t* apps,
                    size_t count, pmix_spawn_cbfunc_t function, void* context) {
  std::vector<Application> applications;
  try {
    applications = applications_of(apps, count);
  } catch (const base::Error& error) {
    return error.code() == -ENOTSUP ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_BAD_PARAM;
  }
  return post(
      [=, parent = copied(parent), applications = std::move(applications)](PmixRequests& requests) {
        requests.spawn(parent, applications, [=](pmix_status_t status, const std::string& job) {
          pmix_nspace_t name{};
          std::strncpy(name, job.c_str(), PMIX_MAX_NSLEN);
          function(status, name, context);
        });
      });
}

// Messages of the MPI to its user.
void log(const pmix_proc_t* process, const pmix_info_t* items, size_t count,
         const pmix_info_t* directives, size_t directive_count, pmix_op_cbfunc_t function,
         void* context) {
  std::string text, topic;
  for (size_t n = 0; n < count; ++n)
    if (has_key(items[n], PMIX_LOG_STDERR) || has_key(items[n], PMIX_LOG_STDOUT))
      text += text_of(items[n]);
  for (size_t n = 0; n < directive_count; ++n)
    if (has_key(directives[n], PMIX_LOG_KEY) || has_key(directives[n], PMIX_LOG_VAL))
      topic += text_of(directives[n]) + "/";
  post([=, process = copied(process), answer = answer_by(function, context)](
           PmixRequests& requests) { requests.log(process, text, topic, answer); });
}

// libpmix itself removes files at a rank's end (PMIX_REGISTER_CLEANUP), but only for a launcher
// that has this function; more is not supported.
pmix_status_t control_job(const pmix_proc_t*, const pmix_proc_t*, size_t, const pmix_info_t*,
                          size_t, pmix_info_cbfunc_t, void*) {
  return PMIX_ERR_NOT_SUPPORTED;
}

}  // namespace

void start_upcalls(EventLoop& loop, PmixRequests& requests) {
  const std::lock_guard<std::mutex> guard(receiver.mutex);
  receiver.loop = &loop;
  receiver.requests = &requests;
}

void stop_upcalls() {
  const std::lock_guard<std::mutex> guard(receiver.mutex);
  receiver.loop = nullptr;
  receiver.requests = nullptr;
}

pmix_server_module_t* module_for_libpmix(int version) {
  static struct {
    pmix_server_module_t known{};
    void* later_functions[32]{};
  } module;
  module.known.client_connected2 = connected;
  module.known.client_finalized = finalized;
  module.known.abort = abort;
  module.known.fence_nb = fence;
  module.known.direct_modex = data_of_other_node;
  module.known.publish = publish;
  module.known.lookup = look_up;
  module.known.unpublish = unpublish;
  module.known.spawn = spawn;
  module.known.connect = connect_jobs;
  module.known.disconnect = connect_jobs;
  if (version >= 5) module.known.group = serve_group;
  module.known.log = log;
  module.known.job_control = control_job;
  return &module.known;
}

}  // namespace nagaya::tools
