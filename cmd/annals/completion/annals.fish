# Completion of annals in fish: asks the program itself, so that it never lags behind.
function __annals_complete
	set -l words (commandline -opc)
	set -l lines ($words[1] __complete $words[2..-1] (commandline -ct) 2>/dev/null)
	if test "$lines[1]" = ":files"
		__fish_complete_path (commandline -ct)
	else if test (count $lines) -gt 0
		printf '%s\n' $lines
	end
end
complete -c annals -f -a '(__annals_complete)'
