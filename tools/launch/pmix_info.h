// SPDX-License-Identifier: BSD-3-Clause
// pmix_info.h - a list of PMIx's keys and their values, in the form of libpmix; owns the values.
#pragma once

#include <pmix_common.h>

#include <cstdint>
#include <list>
#include <string>
#include <vector>

namespace nagaya::tools {

class PmixInfo {
 public:
  // `key`: one of the names PMIX_... of libpmix.
  void add_flag(const char* key);  // is true
  void add_uint16(const char* key, uint16_t value);
  void add_uint32(const char* key, uint32_t value);
  void add_size(const char* key, size_t value);
  void add_rank(const char* key, uint32_t value);
  void add_text(const char* key, const std::string& value);
  void add_bytes(const char* key, const std::string& value);
  void add_list(const char* key, PmixInfo value);
  void add_topology(const char* key, pmix_topology_t* value);  // stays the caller's

  // Valid until the next add_...().
  pmix_info_t* data() { return items_.data(); }
  size_t size() const { return items_.size(); }

 private:
  struct List;

  pmix_value_t& add(const char* key, pmix_data_type_t type);

  std::vector<pmix_info_t> items_;
  // The items point into these; a list's elements stay where they are.
  std::list<std::string> texts_;
  std::list<List> lists_;
};

struct PmixInfo::List {
  PmixInfo info;
  pmix_data_array_t array;
};

}  // namespace nagaya::tools
