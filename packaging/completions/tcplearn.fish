# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Completion for fish: tcplearn itself says what may follow, and whether it is a file.
function __tcplearn_asks
    env _TCPLEARN_COMPLETE=complete_fish _TYPER_COMPLETE_FISH_ACTION=$argv[1] \
        _TYPER_COMPLETE_ARGS=(commandline -cp | string collect) tcplearn 2>/dev/null
end
complete --command tcplearn --no-files --arguments "(__tcplearn_asks get-args)" --condition "__tcplearn_asks is-args"
