#!/usr/bin/env bash
# Tests what is in deploy with bin/annals: the chart, HAProxy before two servers, the alert rules and the dashboard.
# Within scripts/postgres.sh run. Installs HAProxy and promtool if they are missing.
set -euo pipefail
cd "$(dirname "$0")/.."

say() { printf 'deploy/test.sh: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}
# shellcheck disable=SC2034 # read by apt.sh
otherwise="install haproxy and promtool"
# shellcheck source=scripts/apt.sh
. scripts/apt.sh

promtool=$(command -v promtool || echo .tools/prometheus/usr/bin/promtool)
if ! [ -x "$promtool" ] || ! command -v haproxy >/dev/null; then
	apt_update "haproxy or promtool" test.sh
	command -v haproxy >/dev/null || apt_install haproxy
	if ! [ -x "$promtool" ]; then # without Prometheus itself, which would start
		mkdir -p .tools && (cd .tools && apt-get -qq download prometheus && dpkg -x prometheus_*.deb prometheus && rm prometheus_*.deb)
	fi
fi

work=$(mktemp -d)
name=annals_deploy_$$
running=()
end() {
	kill "${running[@]}" 2>/dev/null || true
	wait
	psql --quiet "$ANNALS_TEST_POSTGRES" --command "DROP DATABASE IF EXISTS $name"
	rm -rf "$work"
}
trap end EXIT
psql --quiet "$ANNALS_TEST_POSTGRES" --command "CREATE DATABASE $name"
postgres=$(sed -E "s#^(postgres://[^/]*/)[^?]*#\\1$name#" <<<"$ANNALS_TEST_POSTGRES")

export ANNALS_ROOT_KEY=for-the-test-for-the-test-for-the-test ANNALS_KEY=for-the-test-for-the-test-for-the-test
port=$((20000 + RANDOM % 20000))
url=http://127.0.0.1:$port

# ready waits until the address answers.
ready() {
	for _ in $(seq 100); do
		if curl -sf -o /dev/null "$1"; then return; fi
		sleep 0.1
	done
	die "$1 does not answer"
}

# serve starts a server at a port, with metrics at the port beside, and names its process in $server.
serve() {
	DATABASE_URL=$1 ANNALS_DATA=$work/data ANNALS_LISTEN=127.0.0.1:$2 ANNALS_METRICS_LISTEN=127.0.0.1:$(($2 + 1)) \
		ANNALS_BACKUP=$work/backups ANNALS_PRE_STOP_DELAY=4s bin/annals serve >>"$work/log" 2>&1 &
	server=$!
	running+=("$server")
	ready "http://127.0.0.1:$2/readyz"
}

# use does something of all that metrics count.
use() {
	export ANNALS_SERVER=http://127.0.0.1:$1
	bin/annals remember "one thing" --id "$2" --scope team:pay >/dev/null 2>&1
	! bin/annals remember "another thing" --id "$2" 2>/dev/null || die "an id can be taken twice"
	echo '{"content":"a thing","type":"tool"}' | bin/annals import - >/dev/null
	bin/annals search "a thing" >/dev/null
}

# hold holds the dashboard and the alerts to the metrics of a server, which counts the items of scopes when it starts.
hold() {
	serve "$1" "$2"
	use "$2" before
	kill "$server" && wait "$server"
	serve "$1" "$2"
	use "$2" after
	for _ in $(seq 100); do
		curl -sf "http://127.0.0.1:$(($2 + 1))/metrics" >"$work/metrics"
		if grep -q annals_scope_items "$work/metrics"; then break; fi
		sleep 0.1
	done
	ANNALS_METRICS=$work/metrics go test -C deploy/check -count=1 .
}

say "alert rules"
"$promtool" check rules deploy/chart/alerts.yaml
"$promtool" test rules deploy/check/alerts_test.yaml

say "the chart, and the dashboard on SQLite"
hold "sqlite:$work/annals.db" "$port"

say "HAProxy before two servers on PostgreSQL"
export LISTEN=127.0.0.1:$((port + 10)) SERVER_1=127.0.0.1:$((port + 20)) SERVER_2=127.0.0.1:$((port + 30))
haproxy -c -f deploy/haproxy.cfg
hold "$postgres" $((port + 20))
first=$server
serve "$postgres" $((port + 30))
second=$server
haproxy -f deploy/haproxy.cfg >"$work/haproxy" 2>&1 &
running+=("$!")
url=http://$LISTEN
ready "$url/readyz"
[ "$(curl -s -o /dev/null -w '%{http_code}' "$url/metrics")" = 404 ] || die "HAProxy shows the metrics"

# ask lets four clients send writes and searches, alternately, and counts the answers by status and by server.
ask() {
	local client i clients=() before
	before=$(wc -l <"$work/haproxy")
	for client in 1 2 3 4; do
		for i in $(seq "$1"); do
			post knowledge "{\"content\":\"fact $i of $2\",\"id\":\"$2-$client-$i\",\"type\":\"tool\"}"
			post search "{\"query\":\"fact $i\"}"
		done >"$work/$2-$client" &
		clients+=("$!")
	done
	wait "${clients[@]}"
	say "$2: $(sort "$work/$2"-? | uniq -c | awk '{ printf "%s answers %s, ", $1, $2 }')$(
		tail -n "+$((before + 1))" "$work/haproxy" | grep -o 'servers/annals[12] ' | sort | uniq -c | tr -s '\n ' ' ')"
}

post() {
	curl -s -o /dev/null -w '%{http_code}\n' -H "Authorization: Bearer $ANNALS_KEY" -H 'Content-Type: application/json' \
		"$url/v1/$1" -d "$2" || true
}

curl -sN -H "Authorization: Bearer $ANNALS_KEY" -H 'Accept: text/event-stream' "$url/v1/events" >"$work/stream" &
running+=("$!")
ask 10 both
grep -q both-4-10 "$work/stream" || { sleep 1 && grep -q both-4-10 "$work/stream"; } || die "HAProxy holds events back"
ask 200 stopping &
asking=$!
sleep 1
kill "$first" && wait "$first"
serve "$postgres" $((port + 20))
wait "$asking"
if grep -qv '^20[01]$' "$work"/both-? "$work"/stopping-?; then die "requests failed while a server stopped"; fi
sleep 2
ask 200 killed &
asking=$!
sleep 1
kill -9 "$second"
wait "$second" || true
wait "$asking"
failed=$(cat "$work"/killed-? | grep -cv '^20[01]$' || true)
[ "$failed" -le 4 ] || die "$failed requests failed, more than the four that were under way at the killed server"
say ok
