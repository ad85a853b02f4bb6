# completion of dray and dray-install for fish: verbs and options as the programs' own help tells them
# installed as share/fish/vendor_completions.d/dray.fish and .../dray-install.fish
function __dray_verbs
    $argv[1] --help 2>/dev/null | string match -rg '^  ([a-z][a-z-]*)' | sort -u
end

function __dray_options
    set -l words (commandline -opc)
    test (count $words) -gt 1; or return
    $words[1] $words[2] --help 2>/dev/null | string match -rg '^  (?:-[a-zA-Z], )?(--[a-z-]+)'
end

function __dray_pages
    dray-install help 2>/dev/null | string match -rg '^  dray-install help ([a-z]+)'
end

complete -c dray-install -n '__fish_seen_subcommand_from help' -f -a '(__dray_pages)'
for prog in dray dray-install
    complete -c $prog -n __fish_use_subcommand -f -a "(__dray_verbs $prog)"
    complete -c $prog -n 'not __fish_use_subcommand' -a '(__dray_options)'
end
