#!/usr/bin/env bash
# Tests the clients against a server of their own: that their types are those of the API, what they do, and their examples.
# Before that, it lints the descriptions of the API. With the argument generate it writes these types anew instead.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'clients/test.sh: %s\n' "$*" >&2; }

command -v npm >/dev/null || { say "npm is not installed: install Node.js 20 or newer"; exit 1; }
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 9))' || { say "Python 3.9 or newer is not installed"; exit 1; }

work=$(mktemp -d)
server=
end() {
	if [ -n "$server" ] && kill "$server" 2>/dev/null; then wait "$server" || true; fi
	rm -rf "$work"
}
trap end EXIT

CGO_ENABLED=0 go build -pgo=off -buildvcs=false -o "$work/annals" ./cmd/annals
: >"$work/said"
env -u ANNALS_SERVER -u ANNALS_KEY -u ANNALS_ROOT_KEY DATABASE_URL="sqlite:$work/annals.db" ANNALS_DATA="$work/data" \
	"$work/annals" serve --json --listen 127.0.0.1:0 --log-level error >"$work/said" &
server=$!
for _ in $(seq 600); do
	url=$(sed -n 's/.*"url": *"\([^"]*\)".*/\1/p' "$work/said")
	[ -n "$url" ] && break
	sleep 0.1
done
[ -n "$url" ] || { say "the server did not start"; exit 1; }
export ANNALS_SERVER=$url

linters=(@redocly/cli@2.77.0 @stoplight/spectral-cli@6.16.3)
if [ "${1:-}" != generate ]; then
	if ! [ -e ".tools/lint/${linters[*]//\//+}" ]; then
		say "installing ${linters[*]} into .tools/lint, once"
		rm -rf .tools/lint
		npm install --prefix .tools/lint --no-fund --no-audit --no-save --loglevel=error "${linters[@]}"
		touch ".tools/lint/${linters[*]//\//+}"
	fi
	say "OpenAPI"
	curl -fsSL "$url/v1/openapi.json" -o "$work/annals.json"
	curl -fsSL "$url/api/v1/openapi.json" -o "$work/openviking.json"
	echo 'extends: ["spectral:oas"]' >"$work/spectral.yaml"
	export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true
	.tools/lint/node_modules/.bin/redocly lint --extends=recommended-strict "$work/annals.json" "$work/openviking.json"
	.tools/lint/node_modules/.bin/spectral lint --ruleset "$work/spectral.yaml" --fail-severity warn --quiet \
		"$work/annals.json" "$work/openviking.json"
fi

cd clients/typescript
if ! [ node_modules/.package-lock.json -nt package-lock.json ]; then
	say "installing what the tests need, once"
	npm ci --no-fund --no-audit --loglevel=error
fi
if [ "${1:-}" = generate ]; then
	node generate.mjs >"$work/openapi.ts"
	"$python" ../python/generate.py >"$work/schemas.py"
	cp "$work/openapi.ts" src/openapi.ts
	cp "$work/schemas.py" ../python/annals/schemas.py
	exit
fi

ANNALS_KEY=$(env -u ANNALS_KEY "$work/annals" key create user:mia --role admin --json 2>/dev/null | sed -n 's/.*"key": *"\([^"]*\)".*/\1/p')
export ANNALS_KEY

say "TypeScript"
node generate.mjs | diff -u src/openapi.ts - || { say "the API has changed: run clients/test.sh generate"; exit 1; }
npm test --silent

say "TypeScript, with the AI SDK 6"
mkdir -p "$work/ai6/node_modules"
cp -r package.json tsconfig.json src test "$work/ai6"
ln -s "$PWD"/node_modules/* "$work/ai6/node_modules"
ln -sfn "$PWD/node_modules/ai6" "$work/ai6/node_modules/ai"
(cd "$work/ai6" && node node_modules/typescript/bin/tsc && node --test --test-reporter=spec dist/test/ai.test.js)
for example in examples/*.mjs; do node "$example"; done

cd ../python
say "Python"
"$python" generate.py | diff -u annals/schemas.py - || { say "the API has changed: run clients/test.sh generate"; exit 1; }
if command -v mypy >/dev/null; then mypy annals/__init__.py; else say "mypy is not installed: types are not checked"; fi
"$python" -W error -m unittest
for example in examples/*.py; do PYTHONPATH=.:tests/standin "$python" "$example"; done
say "ok"
