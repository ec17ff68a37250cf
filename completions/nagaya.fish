# SPDX-License-Identifier: BSD-3-Clause
# Completion of `nagaya` for fish.
complete -c nagaya -n __fish_use_subcommand -f -a run -d 'Start a job on this node in one address space'
complete -c nagaya -n __fish_use_subcommand -f -a exec -d 'Run one process of a launched job as a task'
complete -c nagaya -n __fish_use_subcommand -f -a bench -d 'Measure against bars'
complete -c nagaya -n __fish_use_subcommand -l version -d 'Print the version'
complete -c nagaya -n '__fish_seen_subcommand_from run' -s n -l np -x -d 'How many tasks'
complete -c nagaya -n '__fish_seen_subcommand_from run' -l separate -d 'Ordinary processes instead of tasks'
complete -c nagaya -n '__fish_seen_subcommand_from run' -l launcher -x -a 'auto none' -d 'Which mpirun'
complete -c nagaya -n '__fish_seen_subcommand_from run' -l launcher-arg -x -d 'An argument for mpirun'
complete -c nagaya -n '__fish_seen_subcommand_from bench' -f -a 'all report'
complete -c nagaya -n '__fish_seen_subcommand_from run exec' -a '(__fish_complete_subcommand)'
