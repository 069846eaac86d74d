# Completion of annals in bash: asks the program itself, so that it never lags behind.
# A colon is part of a word, such as user:123.
COMP_WORDBREAKS=${COMP_WORDBREAKS//:}
_annals() {
	local IFS=$'\n' line
	local -a lines
	mapfile -t lines < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	COMPREPLY=()
	if [ "${lines[0]:-}" = ":files" ]; then
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "${COMP_WORDS[COMP_CWORD]}")
		return
	fi
	for line in "${lines[@]}"; do
		COMPREPLY+=("${line%%$'\t'*}")
	done
}
complete -F _annals annals
