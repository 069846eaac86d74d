#!/usr/bin/env bash
# Profiles the server while clients remember, search and rebuild, and writes the profile to FILE. The
# compiler uses it to decide what to inline. A profile stays useful after most changes of the code.
#   scripts/profile.sh FILE
set -euo pipefail

file=${1:?usage: profile.sh FILE}
project=$(cd "$(dirname "$0")/.." && pwd)
seen=$(mktemp -d "${TMPDIR:-/tmp}/annals-profile.XXXXXX")
trap 'rm -rf "$seen"' EXIT

cd "$project"
for name in remember search rebuild; do
	printf 'profile.sh: %s\n' "$name" >&2
	scripts/postgres.sh run go run -pgo=off ./scripts/bench "$name" --rounds 1 --profile "$seen" >/dev/null
done
go tool pprof -proto "$seen"/*.pprof >"$seen/all" 2>/dev/null
mv "$seen/all" "$file"
printf 'profile.sh: %s is %s bytes\n' "$file" "$(wc -c <"$file")" >&2
