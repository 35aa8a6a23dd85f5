#compdef rcv
# Completion of rcv for zsh.  Use: source <(rcv completion zsh), or save it as _rcv in a folder of $fpath
_rcv() {
    local -a commands
    commands=(
@names@
    )
    if (( CURRENT == 2 )); then
        _describe -t commands command commands
        _files -/
        return
    fi
    local command=$words[2]
    shift words
    (( CURRENT-- ))
    case $command in
@commands@
        *) _files -/ ;;
    esac
}
if [[ $funcstack[1] == _rcv ]]; then _rcv "$@"; else compdef _rcv rcv; fi
