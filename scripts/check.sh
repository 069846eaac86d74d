#!/usr/bin/env bash
# Runs the static checks. Every check runs, even after one that failed.
# With the argument fmt it formats the Go code instead.
set -euo pipefail
cd "$(dirname "$0")/.."

linter=.tools/golangci-lint
failed=

say() { printf 'check.sh: %s\n' "$*" >&2; }

# check runs a command under a name, and remembers if it failed.
check() {
	local name=$1
	shift
	if "$@"; then
		say "$name: ok"
	else
		say "$name: FAILED"
		failed="$failed $name"
	fi
}

# build_linter builds golangci-lint as scripts/tools/go.mod pins it, unless that was done before.
build_linter() {
	if [ -x "$linter" ] && [ "$linter" -nt scripts/tools/go.sum ]; then return; fi
	say "building golangci-lint, once (a minute or two)"
	CGO_ENABLED=0 go build -C scripts/tools -o ../../"$linter" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
}

# unformatted lists the files that gofmt would change, and fails if there are any.
unformatted() {
	local files
	files=$(git ls-files -co --exclude-standard '*.go' | xargs gofmt -l)
	[ -z "$files" ] || { printf '%s\n' "$files"; return 1; }
}

if [ "${1:-}" = fmt ]; then
	if build_linter; then exec "$linter" fmt; fi
	say "golangci-lint cannot be built here: formatting with gofmt only"
	exec gofmt -w .
fi

check modules go mod verify
check tidy go mod tidy -diff
check vet go vet ./...
for system in linux/arm64 darwin/amd64 darwin/arm64 freebsd/amd64 freebsd/arm64 windows/amd64; do
	check "vet on $system" env GOOS="${system%/*}" GOARCH="${system#*/}" go vet ./...
done
check budget go run ./scripts/budget
if build_linter; then
	check format "$linter" fmt --diff
	check lint "$linter" run
else
	say "golangci-lint cannot be built here: see above; checking with gofmt only"
	check format unformatted
fi
if command -v shellcheck >/dev/null; then
	check scripts shellcheck scripts/*.sh clients/*.sh deploy/*.sh .ci/run
else
	say "scripts: skipped, shellcheck is not installed (apt-get install shellcheck)"
fi

if [ -n "$failed" ]; then
	say "failed:$failed"
	exit 1
fi
