# SPDX-License-Identifier: BSD-3-Clause
# Subshells, pipes, substitutions, a trap and background jobs.
trap 'echo interrupted' USR1
for ((i = 0; i < 5; i++)); do (echo "$((i * i))") & wait $!; done
printf '%s\n' one two three | while read -r word; do echo "${#word}"; done | sort -n | tail -1
echo "$(echo nested "$(echo twice)")" <(true) | sed 's#/dev/fd/.*#file#'
kill -USR1 $$
