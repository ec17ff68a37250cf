// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_group.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace nagaya::tools {
namespace {

// The answer that the members of a new group get; lives until libpmix has read it.
class GroupAnswer {
 public:
  GroupAnswer(const pmix_proc_t* members, size_t count) : members_(members, members + count) {
    array_ = {PMIX_PROC, members_.size(), members_.data()};
    add(PMIX_GROUP_MEMBERSHIP, PMIX_DATA_ARRAY).data.darray = &array_;
  }
  ~GroupAnswer() { std::free(data_->bytes); }

  void add_number(size_t number) { add(PMIX_GROUP_CONTEXT_ID, PMIX_SIZE).data.size = number; }
  // libpmix may free the data, and then sets the pointer to null.
  void add_data(const pmix_byte_object_t& data) {
    data_ = &add(PMIX_GROUP_ENDPT_DATA, PMIX_BYTE_OBJECT).data.bo;
    *data_ = {static_cast<char*>(std::malloc(data.size)), data.size};
    std::memcpy(data_->bytes, data.bytes, data.size);
  }

  pmix_info_t* items() { return items_.data(); }
  size_t count() const { return count_; }

 private:
  pmix_value_t& add(const char* key, pmix_data_type_t type) {
    pmix_info_t& item = items_.at(count_++);
    std::strncpy(item.key, key, PMIX_MAX_KEYLEN);
    item.value.type = type;
    return item.value;
  }

  std::vector<pmix_proc_t> members_;
  pmix_data_array_t array_{};
  std::array<pmix_info_t, 3> items_{};
  size_t count_ = 0;
  pmix_byte_object_t none_{};
  pmix_byte_object_t* data_ = &none_;
};

}  // namespace

pmix_status_t serve_group(pmix_group_operation_t operation, char*, const pmix_proc_t* members,
                          size_t member_count, const pmix_info_t* items, size_t item_count,
                          pmix_info_cbfunc_t answer, void* context) {
  // A group's number differs from that of all others. PRRTE counts in the same way.
  static std::atomic<size_t> next_number{UINT32_MAX};
  if (operation != PMIX_GROUP_CONSTRUCT) return PMIX_OPERATION_SUCCEEDED;
  auto* const group = new GroupAnswer(members, member_count);
  const auto find = [&](const char* key) {
    const auto has_key = [&](const pmix_info_t& item) {
      return std::strncmp(item.key, key, PMIX_MAX_KEYLEN) == 0;
    };
    const pmix_info_t* const found = std::find_if(items, items + item_count, has_key);
    return found != items + item_count ? found : nullptr;
  };
  if (find(PMIX_GROUP_ASSIGN_CONTEXT_ID) != nullptr) group->add_number(next_number.fetch_sub(1));
  if (const pmix_info_t* const data = find(PMIX_GROUP_ENDPT_DATA); data != nullptr)
    group->add_data(data->value.data.bo);
  const auto release = [](void* group) { delete static_cast<GroupAnswer*>(group); };
  answer(PMIX_SUCCESS, group->items(), group->count(), context, release, group);
  return PMIX_SUCCESS;
}

}  // namespace nagaya::tools
