package main

import (
	"encoding/json"
	"net/http"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
)

func TestAServerReadsAStandbyAndForwardsItsWrites(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts two PostgreSQL servers and four of Annals")
	}
	pair, data := databasetest.NewPair(t), t.TempDir()
	serves := func(database string, env ...string) caller {
		t.Helper()
		env = append(env, "DATABASE_URL="+database, "ANNALS_DATA="+data, "ANNALS_LISTEN=127.0.0.1:0")
		return caller{t, startServer(t, data, env)}
	}
	primary := serves(pair.URL)
	databasetest.Until(t, "the standby has the tables", func() bool {
		return pair.Ask(pair.Second, "SELECT count(*) FROM projections WHERE name = 'past'") == "1"
	})
	alone := serves(pair.Second)
	standby := serves(pair.Second, "ANNALS_PRIMARY_URL="+primary.server, "ANNALS_MAX_LAG=1s")
	looping := serves(pair.Second, "ANNALS_PRIMARY_URL="+alone.server)

	const item = `{"type":"strategy","content":"lost","scopes":["public"]}`
	alone.gets(http.StatusServiceUnavailable, "ANNALS_PRIMARY_URL", http.MethodPost, "/v1/knowledge", item)
	looping.gets(http.StatusServiceUnavailable, "reads a standby", http.MethodPost, "/v1/knowledge", item)

	at := standby.remembers("forwarded")
	alone.gets(http.StatusOK, "retry with jitter", http.MethodGet, "/v1/knowledge/forwarded?min_position="+at, "")
	alone.gets(http.StatusOK, "knowledge.remembered", http.MethodGet, "/v1/knowledge/forwarded/history", "")
	alone.gets(http.StatusOK, "forwarded", http.MethodGet, "/v1/knowledge/forwarded?as_of="+at, "")
	alone.gets(http.StatusOK, "forwarded", http.MethodGet, "/v1/knowledge", "")
	const question = `{"query":"retry","limit":3}`
	alone.gets(http.StatusOK, "forwarded", http.MethodPost, "/v1/search?max_wait=25&min_position="+at, question)
	alone.gets(http.StatusOK, "forwarded", http.MethodPost, "/v1/context", `{"stage":"query","query":"retry"}`)
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`
	alone.gets(http.StatusOK, "retry with jitter", http.MethodPost, "/mcp",
		call+`"retrieve_memory","arguments":{"query":"retry"}}}`)
	standby.gets(http.StatusOK, "by-mcp", http.MethodPost, "/mcp", call+
		`"save_knowledge","arguments":{"id":"by-mcp","type":"strategy","content":"one","scopes":["public"]}}}`)
	alone.gets(http.StatusOK, "forwarded", http.MethodGet, "/console/knowledge", "")
	databasetest.Until(t, "the standby has what the primary signed", func() bool {
		status, _, _ := alone.calls(http.MethodGet, "/v1/log/checkpoint", "")
		return status == http.StatusOK
	})
	alone.gets(http.StatusOK, "", http.MethodGet, "/console/health", "")
	standby.gets(http.StatusOK, `"role":"standby"`, http.MethodGet, "/readyz", "")
	alone.gets(http.StatusOK, "answers have no receipts", http.MethodGet, "/readyz", "")

	pair.Ask(pair.Second, "SELECT coalesce(pg_wal_replay_pause()::text, '')")
	at = standby.remembers("later")
	standby.gets(http.StatusServiceUnavailable, "behind", http.MethodGet,
		"/v1/knowledge/later?max_wait=1&min_position="+at, "")
	databasetest.Until(t, "the server is not ready, since replay is paused", func() bool {
		status, said, _ := standby.calls(http.MethodGet, "/readyz", "")
		return status == http.StatusServiceUnavailable && strings.Contains(said, "replay is paused")
	})
	pair.Ask(pair.Second, "SELECT coalesce(pg_wal_replay_resume()::text, '')")
	standby.gets(http.StatusOK, "later", http.MethodGet, "/v1/knowledge/later?max_wait=25&min_position="+at, "")

	pair.KillPrimary()
	standby.gets(http.StatusOK, "forwarded", http.MethodGet, "/v1/knowledge/forwarded", "")
	pair.Promote()
	databasetest.Until(t, "the server of the standby is that of the primary", func() bool {
		var ready struct{ Role, Status string }
		_, said, _ := alone.calls(http.MethodGet, "/readyz", "")
		return json.Unmarshal([]byte(said), &ready) == nil && ready.Role == "primary" && ready.Status == "ready"
	})
	at = alone.remembers("promoted")
	alone.gets(http.StatusOK, "promoted", http.MethodPost, "/v1/search?max_wait=25&min_position="+at,
		`{"query":"retry with jitter: promoted"}`)
	alone.gets(http.StatusOK, "later", http.MethodGet, "/v1/knowledge/later", "")
}

func TestAServerReadsAStandbyBesideThePrimary(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts two PostgreSQL servers and one of Annals")
	}
	pair, data := databasetest.NewPair(t), t.TempDir()
	env := []string{"DATABASE_URL=" + pair.URL, "ANNALS_DATA=" + data, "ANNALS_LISTEN=127.0.0.1:0"}
	first := caller{t, startServer(t, data, env)} // makes the tables
	databasetest.Until(t, "the standby has the tables", func() bool {
		return pair.Ask(pair.Second, "SELECT count(*) FROM projections WHERE name = 'past'") == "1"
	})
	both := caller{t, startServer(t, data, append(env, "DATABASE_READ_URL="+pair.Second, "ANNALS_MAX_LAG=1s"))}
	reads := func() bool {
		_, said, _ := both.calls(http.MethodGet, "/readyz", "")
		return strings.Contains(said, `"name":"reads","status":"ok"`)
	}
	databasetest.Until(t, "the standby answers", reads)

	at := both.remembers("one")
	const question = `{"query":"retry","limit":3}`
	both.gets(http.StatusOK, `"receipt"`, http.MethodPost, "/v1/search?max_wait=25&min_position="+at, question)
	both.gets(http.StatusOK, "by-mcp", http.MethodPost, "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`+
		`"save_knowledge","arguments":{"id":"by-mcp","type":"strategy","content":"one","scopes":["public"]}}}`)
	both.gets(http.StatusOK, "by-mcp", http.MethodGet, "/v1/knowledge/by-mcp", "") // the standby has it already
	both.gets(http.StatusOK, "by-mcp", http.MethodGet, "/console/knowledge", "")
	both.gets(http.StatusOK, "retry with jitter", http.MethodPost, "/api/v1/search/find", `{"query":"one"}`)

	asked := func() string {
		return pair.Ask(pair.Second, "SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()")
	}
	before := asked()
	databasetest.Until(t, "the standby is asked", func() bool {
		both.gets(http.StatusOK, "one", http.MethodGet, "/v1/knowledge/one", "")
		return asked() != before
	})

	pair.Ask(pair.Second, "SELECT coalesce(pg_wal_replay_pause()::text, '')")
	at = both.remembers("late")
	databasetest.Until(t, "the primary answers, since replay is paused", func() bool { return !reads() })
	both.gets(http.StatusOK, "late", http.MethodGet, "/v1/knowledge/late?max_wait=1&min_position="+at, "")
	pair.Ask(pair.Second, "SELECT coalesce(pg_wal_replay_resume()::text, '')")
	databasetest.Until(t, "the standby answers again", reads)
	first.gets(http.StatusOK, "late", http.MethodGet, "/v1/knowledge/late", "")
}

func TestReadsAtAStandbyAreRecordedAtThePrimary(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts two PostgreSQL servers and two of Annals")
	}
	pair, data := databasetest.NewPair(t), t.TempDir()
	env := []string{"ANNALS_DATA=" + data, "ANNALS_LISTEN=127.0.0.1:0", "ANNALS_ROOT_KEY=" + rootKey}
	primary := startServer(t, data, append(env, "DATABASE_URL="+pair.URL))
	databasetest.Until(t, "the standby has the tables", func() bool {
		return pair.Ask(pair.Second, "SELECT count(*) FROM projections WHERE name = 'past'") == "1"
	})
	standby := startServer(t, data, append(env, "DATABASE_URL="+pair.Second, "ANNALS_PRIMARY_URL="+primary))
	said := func(server, key string, args ...string) string {
		command := exec.CommandContext(t.Context(), "annals", args...)
		command.Env = append(command.Environ(), "ANNALS_SERVER="+server, "ANNALS_KEY="+key)
		out, _ := command.CombinedOutput()
		return string(out)
	}
	receiptOf := regexp.MustCompile(`"receipt": "(r\d+-\d+)"`)
	receipt := func(answer string) string {
		t.Helper()
		found := receiptOf.FindStringSubmatch(answer)
		if found == nil {
			t.Fatalf("the answer has no receipt: %s", answer)
		}
		return found[1]
	}
	shown := func(server, id string) func() bool {
		return func() bool { return strings.Contains(said(server, rootKey, "receipt", "show", id), "as it was given") }
	}
	said(primary, rootKey, "remember", "Retry with jitter", "--id", "retry", "--scope", "public")
	key := regexp.MustCompile(`annals_\S+`).FindString(said(primary, rootKey, "key", "create", "agent:coder"))
	databasetest.Until(t, "the standby has the key and the item", func() bool {
		return strings.Contains(said(standby, key, "get", "retry"), "jitter")
	})

	id := receipt(said(standby, key, "search", "how do we retry?", "--json"))
	databasetest.Until(t, "the primary has the receipt", shown(primary, id))
	databasetest.Until(t, "the standby has it", shown(standby, id))
	databasetest.Until(t, "the primary has the last use of the key", func() bool {
		return pair.Ask(pair.First, "SELECT count(*) FROM key_uses WHERE '"+key+"' LIKE '%' || prefix || '%'") == "1"
	})
	_, ready, _ := caller{t, standby}.calls(http.MethodGet, "/readyz", "")
	if strings.Contains(ready, "answers have no receipts") {
		t.Errorf("the standby's server says %s", ready)
	}

	pair.KillPrimary()
	id = receipt(said(standby, key, "search", "and without a primary?", "--json"))
	pair.Promote()
	databasetest.Until(t, "the promoted standby has the receipt", shown(standby, id))
}
