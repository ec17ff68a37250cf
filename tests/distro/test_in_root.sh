#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# test_in_root.sh - runs `./dev test` on another Debian release, in a root made by debootstrap.
#
#   test_in_root.sh SUITE FOLDER [COMMAND...]
#
# FOLDER/root is the root; it is kept and used again. COMMAND runs in a copy of this working tree, as
# an ordinary user with sudo; the files of FOLDER/given, if there is such a folder, are in its home.
# Without COMMAND: ./dev test as root, because Slurm and programs of two users need that; the tests
# make ordinary users themselves. NAGAYA_FULL passes through.
#
# Everything happens in mount, pid and ipc namespaces of its own: the end of this program, even by
# SIGKILL, ends every process in them, and the kernel takes the mounts away with the last.
set -euo pipefail

here=$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")
tree=$(dirname -- "$(dirname -- "$here")")
account=tester
copy=/home/$account/nagaya

say() { printf '== %s\n' "$*"; }
fail() { printf './dev: test --distro: %s\n' "$*" >&2; exit 1; }

# ---- outside of the namespaces ---------------------------------------------------------------

become_root() {
  [ "$(id -u)" != 0 ] || return 0
  if ! command -v sudo >/dev/null || ! { sudo -n true 2>/dev/null || [ -t 2 ]; }; then
    fail "needs root to make a Debian root: this user is not root and cannot use sudo"
  fi
  exec sudo setpriv --pdeathsig TERM env NAGAYA_FULL="${NAGAYA_FULL:-}" \
    bash "$here/test_in_root.sh" "$@"
}

check_programs() {
  local program
  for program in debootstrap unshare setpriv chroot apt-get; do
    command -v "$program" >/dev/null || fail "$program is missing (packages.txt)"
  done
}

# `set -m`, so that the tests do not inherit the ignored SIGINT of a background command.
in_namespaces() {
  exec 9>"$2/lock"
  flock --nonblock 9 || fail "another one runs in $2"
  set -m
  setpriv --pdeathsig KILL unshare --mount --pid --ipc --fork --kill-child --mount-proc \
    bash "$here/test_in_root.sh" --inside "$@" 9>&- &
  # shellcheck disable=SC2064
  trap "kill -KILL $! 2>/dev/null; exit 130" INT TERM HUP
  wait $!
}

# ---- the root --------------------------------------------------------------------------------

# Where apt gets Debian from here.
mirror() {
  # shellcheck disable=SC2016  # apt-get expands these
  apt-get indextargets --format '$(LABEL) $(COMPONENT) $(SITE)' 'Created-By: Packages' |
    awk '$1 == "Debian" && $2 == "main" { print $3; exit }'
}

proxy() { (eval "$(apt-config shell PROXY "Acquire::$1::Proxy")"; printf '%s' "${PROXY:-}"); }

make_root() {
  local suite=$1 root=$2 site http https
  [ ! -e "$root" ] || return 0
  site=$(mirror)
  [ -n "$site" ] || fail "apt has no Debian mirror here (apt-get update first, on a Debian system)"
  http=$(proxy http) https=$(proxy https)
  say "making a Debian $suite root in $root (once; some 100 MB)"
  rm -rf -- "$root.partial"
  env ${http:+http_proxy="$http"} ${https:+https_proxy="$https"} \
    debootstrap --variant=minbase --include=ca-certificates,sudo "$suite" "$root.partial" "$site" \
    >"$root.log" 2>&1 || { tail -n 20 "$root.log" >&2; fail "debootstrap failed ($root.log)"; }
  mv -- "$root.partial" "$root"
}

# How the root reaches the mirror: names, proxies, certificates.
give_network() {
  local root=$1 folder
  for folder in resolv.conf hosts hostname; do
    [ ! -e "/etc/$folder" ] || cp -L -- "/etc/$folder" "$root/etc/$folder"
  done
  apt-config dump | grep -E '^Acquire::(http|https)::|^Acquire::Check-' |
    cat >"$root/etc/apt/apt.conf.d/90from-outside"
  for folder in /etc/apt/auth.conf /etc/apt/auth.conf.d /usr/local/share/ca-certificates; do
    [ ! -e "$folder" ] || { mkdir -p "$root${folder%/*}" && cp -a -T -- "$folder" "$root$folder"; }
  done
  chroot "$root" update-ca-certificates >/dev/null 2>&1 || true
  # Nobody needs this root to survive a power failure; our own configuration files stay.
  printf 'force-unsafe-io\nforce-confold\n' >"$root/etc/dpkg/dpkg.cfg.d/nagaya"
  # All ranks are on this machine, and not every machine's interface leads to itself: without a
  # way between them the jobs of an MPI_Comm_spawn do not meet, not even as ordinary processes.
  mkdir -p "$root/etc/openmpi"
  grep -qs ^btl_tcp_if_include "$root/etc/openmpi/openmpi-mca-params.conf" ||
    printf '\nbtl_tcp_if_include = lo\n' >>"$root/etc/openmpi/openmpi-mca-params.conf"
}

# Visible in this mount namespace only; /dev/shm and /tmp are the root's own.
mount_into() {
  local root=$1
  mount --bind "$root" "$root"  # pivot_root wants a mount
  mount -t proc proc "$root/proc"
  mount --rbind /sys "$root/sys"
  mount --rbind /dev "$root/dev"
  mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
  mount -t tmpfs -o mode=755 tmpfs "$root/run"
  find "$root/tmp" -mindepth 1 -delete
}

make_account() {
  local root=$1
  chroot "$root" id "$account" >/dev/null 2>&1 ||
    chroot "$root" useradd --create-home --shell /bin/bash "$account"
  chmod 755 "$root/home/$account"  # the tests' users read the build
  echo "$account ALL=(ALL) NOPASSWD: ALL" >"$root/etc/sudoers.d/$account"
  chmod 440 "$root/etc/sudoers.d/$account"
}

files_of_tree() {
  if git -c safe.directory='*' -C "$tree" rev-parse --git-dir >/dev/null 2>&1; then
    git -c safe.directory='*' -C "$tree" ls-files -z --cached --others --exclude-standard
  else
    (cd "$tree" && find . -name 'build*' -prune -o -type f -print0)
  fi
}

# The build folders in the copy stay, so that a second run builds only what changed; a changed file
# gets the time of now: its own may lie before that of what was built from its last version.
copy_tree() {
  local root=$1 new=$1$copy.new old=$1$copy file
  rm -rf -- "$new"
  mkdir -p "$new" "$old"
  files_of_tree | tar -C "$tree" --null --files-from=- --ignore-failed-read \
    --warning=no-failed-read -c | tar -C "$new" -x --no-same-owner
  (cd "$new" && find . -type f -print0) | while IFS= read -r -d '' file; do
    if cmp -s "$new/$file" "$old/$file"; then touch -r "$old/$file" "$new/$file";
    else touch "$new/$file"; fi
  done
  find "$old" -mindepth 1 -maxdepth 1 -name 'build*' -exec mv -t "$new" -- {} +
  rm -rf -- "$old"
  mv -- "$new" "$old"
  chroot "$root" chown -R "$account:$account" "$copy"
}

# ---- inside ----------------------------------------------------------------------------------

# By pivot_root: in a chroot there are no user namespaces, and mount namespaces stay shared.
run_inside() {
  local root=$1 user=$2 home
  shift 2
  say "running $* as $user in $root"
  cd "$root"
  mkdir -p outside
  pivot_root . outside
  umount -l outside
  rmdir outside
  cd "$copy"
  home=$(getent passwd "$user" | cut -d: -f6)
  exec env -i HOME="$home" USER="$user" LOGNAME="$user" LANG=C.UTF-8 TERM=dumb \
    PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    NAGAYA_FULL="${NAGAYA_FULL:-}" \
    setpriv --pdeathsig KILL --reuid "$user" --regid "$user" --init-groups "$@"
}

inside() {
  local suite=$1 folder=$2 root user=$account
  shift 2
  [ $# -gt 0 ] || { user=root; set -- ./dev test; }
  root=$folder/root
  make_root "$suite" "$root"
  mount_into "$root"
  give_network "$root"
  make_account "$root"
  say "copying the tree"
  copy_tree "$root"
  rm -rf -- "$root/home/$account/given"
  [ ! -d "$folder/given" ] || cp -rT -- "$folder/given" "$root/home/$account/given"
  run_inside "$root" "$user" "$@"
}

main() {
  if [ "${1:-}" = --inside ]; then
    shift
    inside "$@"
    return
  fi
  [ $# -ge 2 ] || fail "usage: test_in_root.sh SUITE FOLDER [COMMAND...]"
  become_root "$@"
  check_programs
  mkdir -p -- "$2"
  in_namespaces "$@"
}

main "$@"
