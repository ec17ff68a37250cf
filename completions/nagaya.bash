# SPDX-License-Identifier: BSD-3-Clause
# Completion of `nagaya` for bash.
# Jobs and task numbers as `nagaya ps` shows them. Names that a shell would read otherwise are left out.
_nagaya_jobs() { nagaya ps 2>/dev/null | sed -n 's/^job \([A-Za-z0-9._-]*\):.*/\1/p'; }
_nagaya_tasks() { nagaya ps 2>/dev/null | sed -n 's/^ *\([0-9]\{1,\}\) .*/\1/p' | sort -nu; }

# Those of the lines on standard input that begin with $1. (compgen -W would carry out what $(...) in
# a word says.)
_nagaya_offer() {
  local word
  COMPREPLY=()
  while IFS= read -r word; do
    [[ $word == "$1"* ]] && COMPREPLY+=("$word")
  done
}

# The subcommands that start nothing.
_nagaya_inquiry() {
  local command=$1 cur=$2 prev=$3 words
  case $command:$prev in
    gdb:--job)
      _nagaya_offer "$cur" < <(_nagaya_jobs)
      return
      ;;
    gdb:--core)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    gdb:--pid | doctor:-n | doctor:--np) return ;;
    ps:*) words='--json -l --long --help' ;;
    top:-n | top:--times | top:-d | top:--delay) return ;;
    top:*) words='-n --times -d --delay --help' ;;
    trace:-s | trace:--seconds) return ;;
    trace:-o | trace:--output)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    trace:*) words='-o --output -s --seconds --help' ;;
    clean:*) words='-n --dry-run --help' ;;
    doctor:*) words='-n --np --json --help' ;;
    gdb:*)
      _nagaya_offer "$cur" < <(printf '%s\n' --job --pid --core --help; _nagaya_tasks)
      return
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

# The options of run and their values. Fails where the program's name may stand.
_nagaya_run() {
  local cur=$1 words
  case $2 in
    -n | -np | --np | --timeout | --launcher-arg) return ;;
    -x)
      mapfile -t COMPREPLY < <(compgen -e -- "$cur")
      return
      ;;
    --wdir)
      mapfile -t COMPREPLY < <(compgen -d -- "$cur")
      return
      ;;
    --output | --error | --hostfile)
      mapfile -t COMPREPLY < <(compgen -f -- "$cur")
      return
      ;;
    --hosts)
      mapfile -t COMPREPLY < <(compgen -A hostname -- "$cur")
      return
      ;;
    --bind-to) words='none hwthread core l3cache numa package' ;;
    --map-by) words='slot hwthread core l3cache numa package node' ;;
    --stdin) words=none ;;
    --launcher) words='auto none mpi' ;;
    *)
      [ "${cur#-}" != "$cur" ] || return 1
      words='-n --np -x --wdir --separate --blacs --bind-to --map-by --report-bindings -l --label --output --error
        --stdin --timeout --hosts --hostfile --launcher --launcher-arg --help'
      ;;
  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

_nagaya_bench() {
  case $2 in
    --rounds | --hours) return ;;
    --json | --resume | --from | --out | --page)
      mapfile -t COMPREPLY < <(compgen -f -- "$1")
      return
      ;;
  esac
  _nagaya_offer "$1" < <(printf '%s\n' --quick --rounds --json --resume --hours --from --out --page --help \
    all list report tune; nagaya bench list 2>/dev/null | sed 's/ .*//')
}

_nagaya() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]-}
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W 'run exec ps top trace gdb clean doctor bench help --help --version' -- "$cur")
    return
  fi
  local at=2
  if [ "$command" = run ] || [ "$command" = doctor ] || [ "$command" = trace ]; then
    while [ "$at" -lt "$COMP_CWORD" ]; do
      case ${COMP_WORDS[at]} in
        -n | -np | --np | -x | --wdir | --bind-to | --map-by | --output | --error | --stdin | --timeout | \
          --hosts | --hostfile | --launcher | --launcher-arg | -o | -s | --seconds) at=$((at + 2)) ;;
        -*) at=$((at + 1)) ;;
        *) break ;;
      esac
    done
  fi
  case $command in
    run)
      if [ "$at" -ge "$COMP_CWORD" ]; then
        _nagaya_run "$cur" "$prev" && return
      fi
      ;;
    bench)
      _nagaya_bench "$cur" "$prev"
      return
      ;;
    doctor)
      if [ "$at" -gt "$COMP_CWORD" ] || { [ "$at" = "$COMP_CWORD" ] && [ "${cur#-}" != "$cur" ]; }; then
        _nagaya_inquiry "$command" "$cur" "$prev"
        return
      fi
      ;;
    ps | top | clean | gdb)
      _nagaya_inquiry "$command" "$cur" "$prev"
      return
      ;;
    trace)
      if [ "$at" -gt "$COMP_CWORD" ] || { [ "$at" = "$COMP_CWORD" ] && [ "${cur#-}" != "$cur" ]; }; then
        _nagaya_inquiry "$command" "$cur" "$prev"
        return
      fi
      if [ "$at" = "$COMP_CWORD" ]; then
        _nagaya_offer "$cur" < <(_nagaya_jobs; compgen -c -- "$cur"; compgen -f -- "$cur")
        return
      fi
      ;;
    exec) ;;
    *) return ;;
  esac
  # The program: a command first, then files.
  if [ "$at" -ge "$COMP_CWORD" ]; then
    mapfile -t COMPREPLY < <(compgen -c -- "$cur"; compgen -f -- "$cur")
  else
    mapfile -t COMPREPLY < <(compgen -f -- "$cur")
  fi
}
complete -o filenames -F _nagaya nagaya
