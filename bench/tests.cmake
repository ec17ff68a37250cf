# SPDX-License-Identifier: BSD-3-Clause
# Tests that every benchmark program runs, and that its own data check can fail. They time nothing.
set(bench_runs "protect" "malloc_64KiB" "page_fault" "map_unmap" "thread" "malloc_mixed" "switch_2")
foreach(name ${bench_runs})
  add_test(NAME bench.resource_${name}_runs
           COMMAND bench-resource --quick --json ${name})
  add_test(NAME bench.resource_${name}_notices_wrong_data
           COMMAND bench-resource --quick --corrupt ${name})
  list(APPEND bench_tests bench.resource_${name}_runs)
  list(APPEND bench_fault_tests bench.resource_${name}_notices_wrong_data)
endforeach()
foreach(name task-start rank-tables mailbox recording offload mailbox-floor cache-line copy-bandwidth yield in-node)
  set(arguments "")
  if(name STREQUAL task-start)
    set(arguments --tasks 8)
  endif()
  add_test(NAME bench.${name}_runs COMMAND bench-${name} --quick --json ${arguments})
  add_test(NAME bench.${name}_notices_wrong_data
           COMMAND bench-${name} --quick --corrupt ${arguments})
  list(APPEND bench_tests bench.${name}_runs)
  list(APPEND bench_fault_tests bench.${name}_notices_wrong_data)
endforeach()
foreach(pattern pingpong alltoall idle)
  add_test(NAME bench.delegation_${pattern}_runs COMMAND nagaya-command bench ${pattern} --quick)
  set_tests_properties(bench.delegation_${pattern}_runs PROPERTIES
    PASS_REGULAR_EXPRESSION "${pattern}_[a-zA-Z0-9]+_automatic|skipped: several hosts .* root")
  add_test(NAME bench.delegation_${pattern}_notices_wrong_data
           COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-delegation> --quick --corrupt
                   ${pattern})
  list(APPEND bench_tests bench.delegation_${pattern}_runs)
  list(APPEND bench_fault_tests bench.delegation_${pattern}_notices_wrong_data)
endforeach()
add_test(NAME bench.requests_runs
         COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-requests> --quick --json)
add_test(NAME bench.requests_notices_wrong_data
         COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-requests> --quick --corrupt)
list(APPEND bench_tests bench.requests_runs)
list(APPEND bench_fault_tests bench.requests_notices_wrong_data)
add_test(NAME bench.checkpoint_runs
         COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-checkpoint> --quick --json)
add_test(NAME bench.checkpoint_notices_wrong_data
         COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-checkpoint> --quick --corrupt)
set_tests_properties(bench.checkpoint_runs bench.checkpoint_notices_wrong_data PROPERTIES
  RESOURCE_LOCK checkpoint.data)
list(APPEND bench_tests bench.checkpoint_runs)
list(APPEND bench_fault_tests bench.checkpoint_notices_wrong_data)
add_test(NAME bench.windows_run
         COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-windows> --quick --json)
add_test(NAME bench.windows_notice_wrong_data
         COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-windows> --quick --corrupt)
list(APPEND bench_tests bench.windows_run)
list(APPEND bench_fault_tests bench.windows_notice_wrong_data)
add_test(NAME bench.top_cost_runs COMMAND nagaya-command bench top-cost --quick)
set_tests_properties(bench.top_cost_runs PROPERTIES
  PASS_REGULAR_EXPRESSION "top_cost_pingpong_8B_trace|skipped: several hosts .* root")
add_test(NAME bench.top_cost_notices_wrong_data
         COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-observed> --quick --alone --corrupt)
list(APPEND bench_tests bench.top_cost_runs)
list(APPEND bench_fault_tests bench.top_cost_notices_wrong_data)
add_test(NAME bench.fmpl_floors_run
         COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-fmpl-floors> --quick --json)
add_test(NAME bench.fmpl_floors_notice_wrong_data
         COMMAND nagaya-command run -n 2 $<TARGET_FILE:bench-fmpl-floors> --quick --corrupt)
list(APPEND bench_tests bench.fmpl_floors_run)
list(APPEND bench_fault_tests bench.fmpl_floors_notice_wrong_data)
add_test(NAME bench.memory_runs COMMAND nagaya-command bench memory --quick)
set_tests_properties(bench.memory_runs PROPERTIES
  PASS_REGULAR_EXPRESSION "memory_page_tables_power_Nagaya|skipped: several hosts .* root")
add_test(NAME bench.memory_notices_wrong_data
         COMMAND bench-memory --quick --corrupt)
add_test(NAME bench.memory_faces_runs COMMAND nagaya-command bench memory-faces --quick)
set_tests_properties(bench.memory_faces_runs PROPERTIES
  PASS_REGULAR_EXPRESSION
  "private_Open_MPI_with_Nagaya.*private_MPICH_with_Nagaya|skipped: several hosts .* root|skipped: mpiexec.mpich")
list(APPEND bench_tests bench.memory_runs bench.memory_faces_runs)
list(APPEND bench_fault_tests bench.memory_notices_wrong_data)
add_test(NAME bench.applications_run COMMAND nagaya-command bench applications --quick)
set_tests_properties(bench.applications_run PROPERTIES
  PASS_REGULAR_EXPRESSION "scalapack_xdlu_time|skipped: several hosts .* root|skipped: none of")
list(APPEND bench_tests bench.applications_run)
add_test(NAME bench.python_runs COMMAND nagaya-command bench python --quick)
set_tests_properties(bench.python_runs PROPERTIES
  PASS_REGULAR_EXPRESSION "python_2_exchange_1KiB.*python_2_memory|skipped: several hosts .* root|skipped: .* no interpreter")
list(APPEND bench_tests bench.python_runs)
add_test(NAME bench.published_figures_run COMMAND nagaya-command bench collectives-240 fmpl-hosts --quick)
set_tests_properties(bench.published_figures_run PROPERTIES
  PASS_REGULAR_EXPRESSION
  "coll_8_bcast_1MiB_S.*fmpl_hosts_3_sum_FMPL_by_messages|skipped: several hosts .* root")
list(APPEND bench_tests bench.published_figures_run)
set(resumed ${CMAKE_CURRENT_BINARY_DIR}/resumed.json)
add_test(NAME bench.a_run_is_resumed
         COMMAND sh -c "rm -f ${resumed}; for names in cache-line 'cache-line yield'; do '$<TARGET_FILE:nagaya-command>' bench $names --quick --resume ${resumed} || exit; done")
set_tests_properties(bench.a_run_is_resumed PROPERTIES PASS_REGULAR_EXPRESSION
  "\\[1/1\\] cache-line.*\\[2/2\\] yield.*cache_line.*yield")
list(APPEND bench_tests bench.a_run_is_resumed)
add_test(NAME bench.npb_says_how_to_get_it COMMAND nagaya-command bench npb --quick)
set_tests_properties(bench.npb_says_how_to_get_it PROPERTIES
  ENVIRONMENT NAGAYA_NPB= PASS_REGULAR_EXPRESSION "npb: skipped: NAGAYA_NPB names no folder")
list(APPEND bench_tests bench.npb_says_how_to_get_it)
add_test(NAME bench.xmp_runs
         COMMAND nagaya-command bench xmp xmp-gmove xmp-coarrays xmp-cyclic --quick)
set_tests_properties(bench.xmp_runs PROPERTIES
  PASS_REGULAR_EXPRESSION
  "xmp_2_memory_XMP.*xmp_2_shadow_reflect.*xmp_gmove_2_tr.*xmp_posts_round_trip.*xmp_cyclic_cyclic_8|skipped: (several hosts .* root|xmpcc is not built)")
list(APPEND bench_tests bench.xmp_runs)
add_test(NAME bench.scale_runs COMMAND nagaya-command bench scale --quick)
set_tests_properties(bench.scale_runs PROPERTIES
  PASS_REGULAR_EXPRESSION "scale_milan_barrier_16_0B_best.*scale_milan_mailbox_2")
list(APPEND bench_tests bench.scale_runs)
# Exit code 2 and not a crash or a time-out: the program itself says what was wrong.
set_tests_properties(${bench_fault_tests} PROPERTIES PASS_REGULAR_EXPRESSION
  "lost|wrong|was not zero|not zero|out of order|did not run")

add_test(NAME bench.driver_holds_figures_against_bars
         COMMAND nagaya-command bench task-start --quick)
set_tests_properties(bench.driver_holds_figures_against_bars PROPERTIES
  PASS_REGULAR_EXPRESSION "task_start_time.*bar <= 1.*task_start_page_tables.*bar <= 0.25")
add_test(NAME bench.driver_judges_and_reports
         COMMAND /usr/bin/python3 ${CMAKE_CURRENT_SOURCE_DIR}/driver_test.py)
set_tests_properties(bench.driver_judges_and_reports PROPERTIES
  ENVIRONMENT
  PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/hosts:${PROJECT_SOURCE_DIR}/tests/end_to_end/support)
add_test(NAME bench.report_has_every_figure_and_opens_in_a_browser
         COMMAND /usr/bin/python3 -B ${CMAKE_CURRENT_SOURCE_DIR}/report_test.py)
set_tests_properties(bench.report_has_every_figure_and_opens_in_a_browser PROPERTIES
  ENVIRONMENT
  PYTHONPATH=${PROJECT_SOURCE_DIR}/tests/hosts:${PROJECT_SOURCE_DIR}/tests/end_to_end/support)
list(APPEND bench_tests bench.driver_holds_figures_against_bars bench.driver_judges_and_reports
     bench.report_has_every_figure_and_opens_in_a_browser)
set_tests_properties(${bench_tests} ${bench_fault_tests} PROPERTIES TIMEOUT 600)
