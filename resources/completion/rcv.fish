# Completion of rcv for fish.  Use: rcv completion fish | source
complete -c rcv -f
complete -c rcv -n __fish_use_subcommand -a '(__fish_complete_directories)'
complete -c rcv -n __fish_use_subcommand -l version -d 'Print the version'
complete -c rcv -n __fish_use_subcommand -s h -l help -d 'List all commands'
@commands@
