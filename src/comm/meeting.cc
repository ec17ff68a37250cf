// SPDX-License-Identifier: BSD-3-Clause
#include "comm/meeting.h"

#include <dlfcn.h>
#include <pmix.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/error.h"

namespace nagaya::comm {
namespace {

using base::Error;

constexpr char kCardKey[] = "nagaya.card";

std::optional<uint32_t> number(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return static_cast<uint32_t>(std::strtoul(value, nullptr, 10));
}

// The first of these variables that is set: each launcher has its own.
std::optional<uint32_t> first_number(std::initializer_list<const char*> names) {
  for (const char* name : names)
    if (const auto value = number(name)) return value;
  return std::nullopt;
}

std::optional<uint32_t> size_of_job() {
  return first_number({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"});
}

class LocalMeeting : public Meeting {
 public:
  LocalMeeting(uint32_t rank, uint32_t size) : rank_(rank), size_(size) {}

  uint32_t rank() const override { return rank_; }
  uint32_t size() const override { return size_; }
  bool is_local() const override { return true; }
  std::vector<Card> exchange(const Card&) override { throw Error(-ENOTSUP, "no launcher"); }
  void fence() override { throw Error(-ENOTSUP, "no launcher"); }

 private:
  uint32_t rank_, size_;
};

// libpmix, opened when it is needed: libnagaya depends on libc alone.
class Pmix {
 public:
  Pmix() : library_(::dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL)) {
    if (library_ == nullptr)
      throw Error(-ENOTSUP, std::string("the job has several nodes and its launcher speaks PMIx, "
                                        "but libpmix cannot be loaded: ") +
                                ::dlerror());
    find(init, "PMIx_Init");
    find(finalize, "PMIx_Finalize");
    find(put, "PMIx_Put");
    find(commit, "PMIx_Commit");
    find(fence, "PMIx_Fence");
    find(get, "PMIx_Get");
    find(name_of, "PMIx_Error_string");
  }

  void check(pmix_status_t status, const char* what) const {
    if (status != PMIX_SUCCESS) throw Error(-EPROTO, std::string(what) + ": " + name_of(status));
  }

  decltype(&PMIx_Init) init;
  decltype(&PMIx_Finalize) finalize;
  decltype(&PMIx_Put) put;
  decltype(&PMIx_Commit) commit;
  decltype(&PMIx_Fence) fence;
  decltype(&PMIx_Get) get;
  decltype(&PMIx_Error_string) name_of;

 private:
  template <class Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(::dlsym(library_, name));
    if (function == nullptr) throw Error(-ENOTSUP, std::string("libpmix has no ") + name);
  }

  void* library_;  // stays loaded: it has threads of its own
};

// PMIx counts its users: an MPI in the same process may come and go before or after.
class PmixMeeting : public Meeting {
 public:
  explicit PmixMeeting(uint32_t size) : size_(size) {
    pmix_.check(pmix_.init(&self_, nullptr, 0), "PMIx_Init");
  }
  ~PmixMeeting() override { pmix_.finalize(nullptr, 0); }

  uint32_t rank() const override { return self_.rank; }
  uint32_t size() const override { return size_; }
  bool is_local() const override { return false; }

  std::vector<Card> exchange(const Card& own) override {
    pmix_value_t value{};
    value.type = PMIX_BYTE_OBJECT;
    value.data.bo.bytes = reinterpret_cast<char*>(const_cast<Card*>(&own));
    value.data.bo.size = sizeof own;
    pmix_.check(pmix_.put(PMIX_GLOBAL, kCardKey, &value), "PMIx_Put");
    pmix_.check(pmix_.commit(), "PMIx_Commit");
    fence_with(true);
    std::vector<Card> cards;
    for (uint32_t rank = 0; rank < size_; ++rank) cards.push_back(card_of(rank));
    return cards;
  }

  void fence() override { fence_with(false); }

 private:
  void fence_with(bool collect) {
    pmix_info_t info{};
    std::strncpy(info.key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN);
    info.value.type = PMIX_BOOL;
    info.value.data.flag = collect;
    pmix_.check(pmix_.fence(nullptr, 0, &info, 1), "PMIx_Fence");
  }

  Card card_of(uint32_t rank) {
    pmix_proc_t process = self_;
    process.rank = rank;
    pmix_value_t* value = nullptr;
    pmix_.check(pmix_.get(&process, kCardKey, nullptr, 0, &value), "PMIx_Get");
    if (value->type != PMIX_BYTE_OBJECT || value->data.bo.size != sizeof(Card))
      throw Error(-EPROTO, "a process of the job uses another version of nagaya");
    Card card;
    std::memcpy(&card, value->data.bo.bytes, sizeof card);
    std::free(value->data.bo.bytes);
    std::free(value);
    return card;
  }

  Pmix pmix_;
  pmix_proc_t self_{};
  uint32_t size_;
};

}  // namespace

std::unique_ptr<Meeting> find_meeting(uint32_t task, uint32_t tasks_here) {
  const uint32_t size = size_of_job().value_or(tasks_here);
  if (size <= tasks_here) {
    const auto rank = first_number({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"});
    return std::make_unique<LocalMeeting>(rank.value_or(task), size);
  }
  if (std::getenv("PMIX_NAMESPACE") == nullptr)
    throw Error(-ENOTSUP,
                "the job has several nodes, but its launcher does not speak PMIx: use Open MPI's "
                "mpirun, or srun --mpi=pmix");
  return std::make_unique<PmixMeeting>(size);
}

}  // namespace nagaya::comm
