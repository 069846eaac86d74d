#!/usr/bin/env bash
# Tests bin/annals with the MCP clients from npm that most hosts use, over both transports: on SQLite, and on PostgreSQL
# within scripts/postgres.sh run. The first run installs the clients into .tools/npm.
set -euo pipefail
cd "$(dirname "$0")/.."

clients=(@modelcontextprotocol/sdk@1.32.2 @modelcontextprotocol/client@2.4.0)

say() { printf 'mcp.sh: %s\n' "$*" >&2; }

command -v npm >/dev/null || { say "npm is not installed: install Node.js 20 or newer, as with apt-get install nodejs npm"; exit 1; }
if ! [ -e ".tools/npm/${clients[*]//\//+}" ]; then
	say "installing ${clients[*]} into .tools/npm, once"
	rm -rf .tools/npm
	npm install --prefix .tools/npm --no-fund --no-audit --no-save --loglevel=error "${clients[@]}"
	touch ".tools/npm/${clients[*]//\//+}"
fi

work=$(mktemp -d)
server=
end() {
	if [ -n "$server" ] && kill "$server" 2>/dev/null; then wait "$server" || true; fi
	rm -rf "$work"
}
trap end EXIT

# try serves a database on a free port, and lets the client use it.
try() {
	local database=$1 url
	env -u ANNALS_SERVER -u ANNALS_KEY -u ANNALS_ROOT_KEY DATABASE_URL="$database" ANNALS_DATA="$work/data" \
		bin/annals serve --json --listen 127.0.0.1:0 --log-level error >"$work/said" &
	server=$!
	for _ in $(seq 200); do
		url=$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' "$work/said")
		[ -n "$url" ] && break
		sleep 0.1
	done
	[ -n "$url" ] || { say "the server did not start"; return 1; }
	node scripts/mcp.mjs "$url" bin/annals
	kill "$server" && wait "$server"
	server=
}

say "on SQLite"
try "sqlite:$work/annals.db"
if [ -n "${ANNALS_TEST_POSTGRES:-}" ]; then
	say "on PostgreSQL"
	name=annals_mcp_$$
	psql --quiet "$ANNALS_TEST_POSTGRES" --command "CREATE DATABASE $name"
	try "$(sed -E "s#^(postgres://[^/]*/)[^?]*#\\1$name#" <<<"$ANNALS_TEST_POSTGRES")"
	psql --quiet "$ANNALS_TEST_POSTGRES" --command "DROP DATABASE $name"
fi
say "ok"
