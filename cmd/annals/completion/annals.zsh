#compdef annals
# Completion of annals in zsh: asks the program itself, so that it never lags behind.
_annals() {
	local line
	local -a lines described
	lines=("${(@f)$("${words[1]}" __complete "${(@)words[2,CURRENT]}" 2>/dev/null)}")
	if [[ "${lines[1]}" == ":files" ]]; then
		_files
		return
	fi
	for line in "${lines[@]}"; do
		[[ -n "$line" ]] || continue
		described+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done
	_describe annals described
}
if [[ "${funcstack[1]}" == "_annals" ]]; then
	_annals "$@"
else
	compdef _annals annals
fi
