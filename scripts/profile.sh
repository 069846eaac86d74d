#!/usr/bin/env bash
# Sees what the program is busy with while clients remember, search and rebuild, and writes that to the file FILE, by
# which the compiler decides what to inline. Function names matter to it, and places in the source files that they came from:
# no need to do this anew for every change.
#   scripts/profile.sh FILE
set -euo pipefail

file=${1:?usage: profile.sh FILE}
project=$(cd "$(dirname "$0")/.." && pwd)
seen=$(mktemp -d "${TMPDIR:-/tmp}/annals-profile.XXXXXX")
trap 'rm -rf "$seen"' EXIT

# watch BENCH ENGINE [OPTION …] runs a bench and keeps what it, or the program, was busy with.
watch() {
	local bench=$1 engine=$2
	shift 2
	printf 'profile.sh: %s on %s\n' "$bench" "$engine" >&2
	go build -trimpath -o "$seen/$bench" "./scripts/bench/$bench"
	"$project/scripts/postgres.sh" run "$seen/$bench" \
		--engine "$engine" --profile "$seen/$bench-$engine.pprof" "$@" >/dev/null
}

cd "$project"
for engine in sqlite postgres; do
	watch remember "$engine" --parts rate --clients 64 --rounds 1 --seconds 15
	watch surface "$engine" --items 10000
	watch rebuild "$engine" --events 100000 --small 1000 --clients 0 --rounds 1
done
go tool pprof -proto "$seen"/*.pprof >"$seen/all" 2>/dev/null
mv "$seen/all" "$file"
printf 'profile.sh: %s is %s bytes\n' "$file" "$(wc -c <"$file")" >&2
