# SPDX-License-Identifier: BSD-3-Clause
# Completion of `nagaya` for bash.
_nagaya() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]-}
  COMPREPLY=()
  if [ "$COMP_CWORD" = 1 ]; then
    mapfile -t COMPREPLY < <(compgen -W 'run exec bench --help --version' -- "$cur")
    return
  fi
  local at=2
  if [ "$command" = run ]; then
    while [ "$at" -lt "$COMP_CWORD" ]; do
      case ${COMP_WORDS[at]} in
        -n | --np | --launcher | --launcher-arg) at=$((at + 2)) ;;
        -*) at=$((at + 1)) ;;
        *) break ;;
      esac
    done
  fi
  case $command in
    run)
      case $prev in
        -n | --np | --launcher-arg) [ "$at" -le "$COMP_CWORD" ] || return ;;
        --launcher)
          mapfile -t COMPREPLY < <(compgen -W 'auto none' -- "$cur")
          return
          ;;
      esac
      if [ "$at" -ge "$COMP_CWORD" ] && [ "${cur#-}" != "$cur" ]; then
        mapfile -t COMPREPLY < <(compgen -W '-n --np --separate --launcher --launcher-arg --help' -- "$cur")
        return
      fi
      ;;
    bench)
      mapfile -t COMPREPLY < <(compgen -W 'all report' -- "$cur")
      return
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
