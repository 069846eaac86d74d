#!/usr/bin/env bash
# A tour: remembers a dozen things in English and Chinese over all six scopes, votes, reports one stale,
# forgets one, searches, and shows histories. It leaves a server of its own with this story.
set -euo pipefail

say() { printf 'demo.sh: %s\n' "$*" >&2; }
die() {
	say "$*"
	exit 1
}

project=$(cd "$(dirname "$0")/.." && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/annals-demo.XXXXXX")
server=

# leave stops the server that this script started, and no other, unless the tour came to its end.
leave() {
	local code=$?
	trap - EXIT INT TERM
	if [ -n "$server" ]; then
		kill "$server" 2>/dev/null || true
		wait "$server" 2>/dev/null || true
	fi
	rm -rf "$work"
	exit "$code"
}
trap leave EXIT
trap 'exit 130' INT TERM

if ! [ -x "$project/bin/annals" ] || [ -n "$(find "$project" -name "*.go" -newer "$project/bin/annals" -print -quit)" ]; then
	make -C "$project" --no-print-directory build || die "the program does not build: see above"
fi
PATH=$project/bin:$PATH

# No variable of the environment may lead the tour to another server, database or model.
for name in ${!ANNALS_@} DATABASE_URL OPENAI_API_KEY ARK_API_KEY; do unset "$name"; done
nohup annals serve --json --listen 127.0.0.1:0 --data "$work" </dev/null >"$work/ready.json" 2>"$work/serve.log" &
server=$!
for _ in $(seq 100); do
	ANNALS_SERVER=$(sed -n 's/^ *"url": "\(.*\)",*$/\1/p' "$work/ready.json")
	[ -z "$ANNALS_SERVER" ] || break
	kill -0 "$server" 2>/dev/null || die "the server did not start: $(cat "$work/serve.log")"
	sleep 0.1
done
[ -n "$ANNALS_SERVER" ] || die "the server is not ready after ten seconds: $(cat "$work/serve.log")"
export ANNALS_SERVER

chapter() { printf '\n\n=== %s\n' "$*"; }

# try prints a command as a user would type it, then its output.
try() {
	local word line='$'
	for word; do
		if [[ $word =~ ^[A-Za-z0-9_./:=@,-]+$ ]]; then line+=" $word"; else line+=" \"$word\""; fi
	done
	printf '\n%s\n' "$line"
	"$@"
}

chapter "Remember: a profile exactly as another system keeps it"
printf '\n$ annals import - <<RECORD\n'
tee "$work/profile.json" <<'RECORD'
{
  "id": "profile_001",
  "type": "user_profile",
  "task": "用户编码风格偏好",
  "tags": {
    "category": "preference",
    "domain": "coding_style"
  },
  "scopes": ["user:123", "project:456"],
  "owner": "user:123",
  "visibility": "shared",
  "content": "用户偏好使用 TypeScript 而非 JavaScript,注重类型安全",
  "source": {
    "agent_id": "general_assistant",
    "trace_id": "trace-xxx",
    "timestamp": "2026-03-03"
  },
  "eval": {
    "helpful": 5,
    "harmful": 0,
    "confidence": 0.9
  }
}
RECORD
printf 'RECORD\n'
tr '\n' ' ' <"$work/profile.json" | annals import -

chapter "Remember: what people, projects, agents, teams and the organisation know"
try annals remember "先给结论,再给推导过程" --id answer-style --task "回答用户 123 的问题" --category preferences --owner user:123
try annals remember "The contract tests fail faster than the unit tests here: run them first" --id test-order --task "running the tests of project 456" --owner project:456
try annals remember "发布前先在预发环境执行一遍数据库迁移,确认耗时" --id migrate-first --task "发布 project 456 的新版本" --type plan --owner project:456
try annals remember "列表页每分钟超过 60 次请求会被封禁一小时" --id list-page-limit --task "抓取商品列表页" --type tool --owner agent:crawler
try annals remember "Do not retry a 403: the site then bans the address for an hour" --id no-403-retry --task "crawling product pages" --category antipatterns --negative --owner agent:crawler
try annals remember "Retry 429s with exponential backoff and jitter" --id retry-429 --task "calling rate-limited APIs" --owner team:web --tag domain=http
try annals remember "前端日志里不要打印手机号,用掩码代替" --id mask-phones --task "写前端日志" --owner team:web
try annals remember "A customer is an account with at least one paid invoice" --id customer --task "what counts as a customer" --type definition --owner org:acme
try annals remember "客户工单必须在两小时内首次响应" --id first-response --task "处理客户工单" --type definition --owner org:acme
try annals remember "jq -c '.[]' turns a JSON array into one value a line" --id jq-lines --task "reading JSON in the shell" --type tool --scope public --owner user:123
try annals remember "容器时间不对时,先检查 TZ 环境变量和 tzdata 是否安装" --id container-tz --task "排查时区错误" --type usecase --scope public --owner user:123
try annals remember "The staging database is reset every Monday" --id staging-reset --task "testing on staging" --owner team:web

chapter "Find: in English, nearest scope first"
try annals search "how do I call a rate-limited API?" --user 123 --project 456 --team web

chapter "Find: in Chinese, and how the answer came about"
try annals search "编码风格" --user 123 --project 456 --explain

chapter "Find: another caller sees only what reaches him"
try annals search "编码风格" --user 999

chapter "Learn from use: votes move confidence"
try annals feedback retry-429 helpful --query "sync the contacts" --outcome "no more 429s" --trace run-1 --as agent:crawler --on-behalf-of user:123
try annals feedback retry-429 helpful --query "nightly export" --outcome "finished in time" --trace run-2 --as agent:crawler --on-behalf-of user:124
try annals feedback retry-429 harmful --query "checkout" --outcome "customers waited too long" --trace run-3 --as agent:shop --on-behalf-of user:125
try annals revise retry-429 --content "Honour Retry-After, then back off with jitter; in a checkout give up after one second" --as user:125
try annals get retry-429

chapter "Learn from use: knowledge grows old"
try annals stale list-page-limit --reason "限流规则上周改了" --as user:124
try annals confirm list-page-limit --reason "重新测过,仍是每分钟 60 次" --as agent:crawler

chapter "Forget: it leaves the answers and stays in the history"
try annals forget staging-reset --reason "staging is gone" --as user:123
try annals search "is the staging database reset?" --team web

chapter "The record: how each came to be"
for id in profile_001 retry-429 list-page-limit staging-reset; do
	try annals history "$id"
done
try annals log --limit 8

chapter "Is everything well?"
try annals doctor

trap - EXIT INT TERM
printf '\n\nThe server is still running, with this story. Its console: %s\n' "$ANNALS_SERVER"
printf 'To stop it and delete the data: kill %s && rm -r %s\n' "$server" "$work"
