#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# version.sh - prints the version of packages and of the wheel: that of CMakeLists.txt, and in a clone
# that is not at the release's tag the commit's time (UTC) and name, so that apt and pip replace a
# package by that of a later commit. It is one for Debian, and a local version for Python (PEP 440).
# NAGAYA_PACKAGE_VERSION is the version for a copy that is no clone.
set -euo pipefail

tree=$(dirname -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")")
version=$(sed -n 's/^project(nagaya VERSION \([0-9.]*\).*/\1/p' "$tree/CMakeLists.txt")
in_clone=(git -c safe.directory='*' -C "$tree")
if [ -e "$tree/.git" ] && ! "${in_clone[@]}" describe --tags --exact-match --match "v$version" >/dev/null 2>&1; then
  version+=$(TZ=UTC "${in_clone[@]}" log -1 --date=format-local:%Y%m%d%H%M%S --format=+git%cd.g%h --abbrev=8 || true)
fi
echo "${NAGAYA_PACKAGE_VERSION:-$version}"
