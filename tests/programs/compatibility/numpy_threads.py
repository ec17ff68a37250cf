# SPDX-License-Identifier: BSD-3-Clause
"""numpy, threads and processes of Python."""
import concurrent.futures
import subprocess

import numpy

with concurrent.futures.ThreadPoolExecutor(4) as pool:
    traces = pool.map(lambda n: int(numpy.trace(numpy.full((80, 80), n) @ numpy.eye(80))), range(8))
    print(list(traces))
print(round(float(numpy.linalg.det(numpy.diag([1.0, 2.0, 3.0]))), 6))
print(subprocess.run(["echo", "child"], capture_output=True, text=True, check=True).stdout, end="")
