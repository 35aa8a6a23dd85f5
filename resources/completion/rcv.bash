# Completion of rcv for bash.  Use: source <(rcv completion bash)
_rcv_offer() {
    local IFS=$'\n'
    COMPREPLY=($(compgen "$@" -- "$cur"))
}
_rcv() {
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=${COMP_WORDS[1]}
    COMPREPLY=()
    if [[ $cur == "=" ]]; then cur=""; elif [[ $prev == "=" ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi
    if ((COMP_CWORD == 1)); then
        _rcv_offer -d -W $'@names@'
        return
    fi
    case "$command $prev" in
@values@
    esac
    case $command in
@commands@
        *) _rcv_offer -d ;;
    esac
}
complete -o filenames -F _rcv rcv
