# Completion of git aitask-lock for bash. Load it after git's own completion:
#   source <(git aitask-lock completions bash)
# It works for `git aitask-lock <TAB>` (git's completion calls _git_aitask_lock) and for
# `git-aitask-lock <TAB>`. It asks git-aitask-lock itself, which answers without any connection.

# Arguments: the words after the command's name, up to the one that is being typed.
__git_aitask_lock_ask ()
{
	local typed="" line candidate
	if [ $# -gt 0 ]; then
		typed="${!#}"
	fi
	COMPREPLY=()
	while IFS= read -r line; do
		case "$line" in
		:files | :dirs)
			local kind=-f
			if [ "$line" = :dirs ]; then
				kind=-d
			fi
			while IFS= read -r candidate; do
				printf -v candidate '%q' "$candidate"
				if [ -d "$candidate" ]; then
					COMPREPLY+=("$candidate/")
				else
					COMPREPLY+=("$candidate ")
				fi
			done < <(compgen "$kind" -- "$typed")
			;;
		?*)
			candidate="${line%%$'\t'*}"
			# Bash replaces only what follows the last word break.
			case "$typed:$COMP_WORDBREAKS" in
			--*=*:*=*)
				candidate="${candidate#"${typed%%=*}="}"
				;;
			esac
			COMPREPLY+=("$candidate ")
			;;
		esac
	done < <(git ${__git_C_args:+"${__git_C_args[@]}"} ${__git_dir:+"--git-dir=$__git_dir"} \
		aitask-lock __complete -- "$@" 2>/dev/null)
}

# Called by git's completion, which has set words and cword.
_git_aitask_lock ()
{
	local at=1
	while [ "$at" -lt "$cword" ] && [ "${words[at]}" != aitask-lock ]; do
		at=$((at + 1))
	done
	__git_aitask_lock_ask "${words[@]:at+1:cword-at}"
}

__git_aitask_lock_main ()
{
	local cur words cword prev __git_C_args= __git_dir=
	if declare -F _get_comp_words_by_ref >/dev/null; then
		_get_comp_words_by_ref -n =: cur words cword prev
	else
		words=("${COMP_WORDS[@]}")
		cword=$COMP_CWORD
	fi
	__git_aitask_lock_ask "${words[@]:1:cword}"
}

complete -o bashdefault -o nospace -F __git_aitask_lock_main git-aitask-lock
