#!/usr/bin/env bash
# Runs each fuzz target for a while.
#
#   scripts/fuzz.sh 10s [TARGET...]
#
# A failing input is stored in testdata/fuzz of the package. Every go test runs it from then on.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-10s}
shift || true
wanted=" $* "
failed=

# try TARGET PACKAGE stores the output of go test in $found. Go may report the end of the time as a failure; a real
# failure always names an input.
try() {
	for _ in 1 2 3; do
		if found=$(go test -pgo=off -run '^$' -fuzz "^$1\$" -fuzztime "$time" "$2" 2>&1); then return; fi
		if [[ "$found" != *"context deadline exceeded"* || "$found" == *"Failing input"* ]]; then return 1; fi
	done
	return 1
}

while IFS=: read -r file target; do
	if [ "$wanted" != "  " ] && [[ "$wanted" != *" $target "* ]]; then continue; fi
	if ! try "$target" "./$(dirname "$file")"; then
		printf '%s\n' "$found" >&2
		failed="$failed $target"
	else
		printf 'fuzz.sh: %s found nothing\n' "$target" >&2
	fi
done < <(git ls-files -co --exclude-standard '*_test.go' | xargs grep -Eo '^func Fuzz[A-Za-z0-9_]+' | sed 's/:func /:/')

if [ -n "$failed" ]; then
	echo "fuzz.sh: failed:$failed" >&2
	exit 1
fi
