// SPDX-License-Identifier: BSD-3-Clause
// pmix_group.h - groups of processes of PMIx, by which Open MPI 5 makes a communicator from a group
// (MPI_Comm_create_from_group).
#pragma once

#include <pmix_server.h>

namespace nagaya::tools {

// Serves pmix_server_module_t::group. libpmix has seen all members arrive.
pmix_status_t serve_group(pmix_group_operation_t operation, char* name, const pmix_proc_t* members,
                          size_t member_count, const pmix_info_t* items, size_t item_count,
                          pmix_info_cbfunc_t answer, void* context);

}  // namespace nagaya::tools
