# SPDX-License-Identifier: BSD-3-Clause
"""The function of the map, in a module that workers can import whatever their command line is."""


def function(number):
    return number * number + 1.
