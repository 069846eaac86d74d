#!/usr/bin/env bash
# Tries what parses with input that nobody thought of, each fuzz target for a while.
#
#   scripts/fuzz.sh 10s [TARGET...]
#
# What it finds stays in testdata/fuzz of the package, and is tried by every go test from then on.
set -euo pipefail
cd "$(dirname "$0")/.."

time=${1:-10s}
shift || true
wanted=" $* "
failed=

while IFS=: read -r file target; do
	if [ "$wanted" != "  " ] && [[ "$wanted" != *" $target "* ]]; then continue; fi
	if ! found=$(go test -run '^$' -fuzz "^$target\$" -fuzztime "$time" "./$(dirname "$file")" 2>&1); then
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
