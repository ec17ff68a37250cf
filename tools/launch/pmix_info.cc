// SPDX-License-Identifier: BSD-3-Clause
#include "launch/pmix_info.h"

#include <cstring>
#include <utility>

namespace nagaya::tools {

pmix_value_t& PmixInfo::add(const char* key, pmix_data_type_t type) {
  pmix_info_t& item = items_.emplace_back();
  std::strncpy(item.key, key, PMIX_MAX_KEYLEN);
  item.value.type = type;
  return item.value;
}

void PmixInfo::add_flag(const char* key) {
  add(key, PMIX_BOOL).data.flag = true;
}

void PmixInfo::add_uint16(const char* key, uint16_t value) {
  add(key, PMIX_UINT16).data.uint16 = value;
}

void PmixInfo::add_uint32(const char* key, uint32_t value) {
  add(key, PMIX_UINT32).data.uint32 = value;
}

void PmixInfo::add_size(const char* key, size_t value) {
  add(key, PMIX_SIZE).data.size = value;
}

void PmixInfo::add_rank(const char* key, uint32_t value) {
  add(key, PMIX_PROC_RANK).data.rank = value;
}

void PmixInfo::add_text(const char* key, const std::string& value) {
  add(key, PMIX_STRING).data.string = texts_.emplace_back(value).data();
}

void PmixInfo::add_bytes(const char* key, const std::string& value) {
  std::string& bytes = texts_.emplace_back(value);
  add(key, PMIX_BYTE_OBJECT).data.bo = {bytes.data(), bytes.size()};
}

void PmixInfo::add_list(const char* key, PmixInfo value) {
  List& list = lists_.emplace_back(List{std::move(value), {}});
  list.array = {PMIX_INFO, list.info.size(), list.info.data()};
  add(key, PMIX_DATA_ARRAY).data.darray = &list.array;
}

void PmixInfo::add_topology(const char* key, pmix_topology_t* value) {
  add(key, PMIX_TOPO).data.topo = value;
}

}  // namespace nagaya::tools
