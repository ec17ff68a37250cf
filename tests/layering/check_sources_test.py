#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every rule of check_sources.py can fail: a file that breaks it is reported, a good one is not."""
import sys
import unittest

import check_sources

HEAD = "// SPDX-License-Identifier: BSD-3-Clause\n"


def complaints(path, text):
    return list(check_sources.check_file(path, HEAD + text))


class Rules(unittest.TestCase):
    def test_includes_point_downward(self):
        self.assertEqual(complaints("src/task/a.cc", '#include "base/fd.h"\n'), [])
        self.assertEqual(complaints("src/task/a.cc", '#include "arch/arch.h"\n'), [])
        self.assertTrue(complaints("src/base/a.h", '#include "task/space/space.h"\n'))
        self.assertTrue(complaints("src/arch/x86_64/a.cc", '  # include "task/space/space.h"\n'))
        self.assertTrue(complaints("src/task/a.cc", '#include "mailbox/mailbox.h"\n'))
        self.assertEqual(complaints("src/match/a.cc", '#include "mailbox/mailbox.h"\n'), [])

    def test_upper_floors_do_not_go_round_the_waist(self):
        for name in ("llcl/requests/port.h", "llcl/requests/pull.h", "llcl/requests/wait.h", "match/queues.h"):
            self.assertEqual(complaints("src/match/a.h", f'#include "{name}"\n'), [])
        for name in ("llcl/board/board.h", "llcl/board/region.h", "llcl/requests/endpoint.h", "delegatee/node.h",
                     "llcl/requests/remote_nodes_by_lane.h"):
            self.assertTrue(complaints("src/match/a.h", f'#include "{name}"\n'))
        for name in ("llcl/requests/endpoint.h", "llcl/requests/remote_nodes_by_lane.h"):
            self.assertEqual(complaints("src/match/match_api.cc", f'#include "{name}"\n'), [])

    def test_public_headers_include_only_public_ones(self):
        self.assertEqual(complaints("include/nagaya/a.h", "#include <stddef.h>\n"), [])
        self.assertEqual(complaints("include/nagaya/a.h", '#include "nagaya/task.h"\n'), [])
        self.assertTrue(complaints("include/nagaya/a.h", '#include "base/fd.h"\n'))

    def test_freestanding_code_sees_only_what_is_made_for_it(self):
        path = "src/task/load/freestanding/a.cc"
        self.assertEqual(complaints(path, '#include "task/space/space.h"\n'), [])
        self.assertEqual(complaints(path, '#include "task/space/futex.h"\n'), [])
        self.assertTrue(complaints(path, '#include "task/space/space_heap.h"\n'))
        self.assertTrue(complaints(path, '#include "base/error.h"\n'))

    def test_large_libraries_stay_in_their_place(self):
        self.assertEqual(complaints("tools/a.cc", "#include <fmt/format.h>\n"), [])
        self.assertTrue(complaints("src/task/a.cc", "#include <fmt/format.h>\n"))
        self.assertTrue(complaints("src/task/a.cc", "#include <Zydis/Zydis.h>\n"))

    def test_only_arch_knows_the_cpu(self):
        self.assertEqual(complaints("src/arch/arch.h", "#if defined(__x86_64__)\n"), [])
        self.assertTrue(complaints("src/task/a.cc", "#if defined(__x86_64__)\n"))
        self.assertTrue(complaints("tools/a.cc", "#  ifdef __aarch64__\n"))

    def test_only_a_set_of_processes_says_where_a_task_lives(self):
        asks = "if (process.node == own.node) copy();\n"
        self.assertTrue(complaints("src/area/a.cc", asks))
        self.assertTrue(complaints("faces/fmpl/a.cc", "return own != all[2].node;\n"))
        self.assertEqual(complaints("src/llcl/requests/a.cc", asks), [])
        self.assertEqual(complaints("src/area/a.cc", "if (processes.is_here(rank)) copy();\n"), [])

    def test_files_are_short(self):
        self.assertEqual(complaints("src/task/a.cc", "\n" * 799), [])
        self.assertTrue(complaints("src/task/a.cc", "\n" * 800))

    def test_every_file_has_its_licence(self):
        self.assertTrue(list(check_sources.check_file("src/task/a.cc", "int x;\n")))

    def test_public_functions_have_a_page(self):
        header = "/* nagaya_old() was one */\nint nagaya_area_open(\n    int count);\n"
        path = "include/nagaya/area.h"
        self.assertEqual(
            list(check_sources.check_pages(path, header, ".Fn nagaya_area_open int\n")), [])
        self.assertTrue(list(check_sources.check_pages(path, header, ".Fn nagaya_area_open_all\n")))
        for header in ("static inline nagaya_completion nagaya_flag(uint32_t* flag) {\n",
                       "void blacs_count_sends(blacs_sends* out);\n"):
            self.assertTrue(list(check_sources.check_pages(path, header, "")), header)

    def test_no_folder_is_a_drawer(self):
        self.assertEqual(list(check_sources.check_folder("src/task")), [])
        self.assertTrue(list(check_sources.check_folder("src/task/utils")))


if __name__ == "__main__":
    sys.exit(unittest.main())
