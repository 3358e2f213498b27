# Completion of git aitask-lock for fish:
#   git aitask-lock completions fish > ~/.config/fish/completions/git-aitask-lock.fish
#   echo 'source ~/.config/fish/completions/git-aitask-lock.fish' >> ~/.config/fish/config.fish
# It works for `git aitask-lock <TAB>` and for `git-aitask-lock <TAB>`. It asks git-aitask-lock
# itself, which answers without any connection.

function __git_aitask_lock_complete
    set -l words (commandline -opc)
    set -e words[1]
    set -l before
    if test (count $argv) -gt 0
        # Options of git itself may stand before the command.
        while set -q words[1]; and test "$words[1]" != aitask-lock
            set -a before $words[1]
            set -e words[1]
        end
        set -e words[1]
    end
    set -l typed (commandline -ct)
    for line in (command git $before aitask-lock __complete -- $words "$typed" 2>/dev/null)
        switch $line
            case :files
                __fish_complete_path $typed
            case :dirs
                __fish_complete_directories $typed
            case '*'
                printf '%s\n' $line
        end
    end
end

function __git_aitask_lock_is_next
    set -l words (commandline -opc)
    contains -- aitask-lock $words[2..-1]
end

complete -c git -n __git_aitask_lock_is_next -f -a '(__git_aitask_lock_complete git)'
complete -c git -n __fish_git_needs_command -f -a aitask-lock -d 'Keep agents on one repository from stepping on each other'
complete -c git-aitask-lock -f -a '(__git_aitask_lock_complete)'
