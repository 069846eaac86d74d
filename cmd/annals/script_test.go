package main

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/annals-kb/annals/cmd/annals/serve"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
)

// The test binary is the program itself when it is called annals.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"annals": main})
}

// alwaysBoth are scripts of testdata/engines about what each engine does in its own way.
var alwaysBoth = []string{
	"backup", "crash", "doctor", "erase", "halted", "merge", "migrate", "outage", "proof", "purge", "restored", "unreadable", "upgrade",
}

// TestScripts runs testdata/engines on both engines, and testdata/script, whose commands behave the same on both, on
// SQLite. With -short it runs scripts of testdata/engines but for alwaysBoth on one engine, chosen by their names. Beside testscript's own commands there are:
//
//	exits CODE COMMAND…        runs a command that must end with this exit code
//	until CODE COMMAND…        runs a command again and again until it ends with this exit code
//	serving [FLAGS…]           starts a server on a free port; the next one gets the same port
//	shutdown [POSITION]        ends the server by SIGTERM, as soon as the log has reached the position;
//	                           it must end well
//	crash [POSITION]           kills it instead
//	count N FILE               the file must have N lines
//	many N FILE [WORDS]        writes N pieces of knowledge, with so many words of their own
//	phase PHASE                waits until a rebuild is in this phase
//	gauge SERIES VALUE         waits until the server's metrics say so; with ! the series must be missing
//	occupied                   lets another program listen on a port, and ANNALS_LISTEN name it
//	locked                     lets ANNALS_LLM_URL name an endpoint of a model that refuses every key
//	free-port                  lets ANNALS_LISTEN and ANNALS_SERVER name a port that is free
//	detour, cut, mend          lets DATABASE_URL lead through a proxy; cuts it off; opens it again
//	schema N                   makes the database say that it has this schema
//	host NAME [FLAGS…] TOOL [ARGUMENTS]  lets an MCP host call a tool of the annals mcp that it has started;
//	                           with ! it must be refused
//	ask [-until TEXT] METHOD PATH [BODY]  sends a request to the server; with ! it must be refused; with -until again
//	                           and again until the answer has the text in it
//	race N METHOD PATH BODY    sends N requests at the same time, of which one must succeed
//	noted NAME EXPRESSION      lets NAME be what the first group of an expression finds in what was printed
//	receiving                  starts a receiver of webhooks, and lets RECEIVER be its URL
//	answering STATUS           lets it answer like this; with 0 it gives no answer
//	subscribed                 lets SUBSCRIPTION be what was made last, and tells the receiver, if any, the secret
//	received N                 waits for N events, and writes a line for each into the file received
//	following PATH             follows a stream of the server, and resumes when the server is back
//	followed N                 waits for N of its events, each once, and writes a line for each into the file followed
//	leave NAME                 ends a host, and with it its annals mcp, which must end well
//	humble                     on PostgreSQL, lets DATABASE_URL name a role that owns nothing
//	fresh                      lets DATABASE_URL name another empty database of the same engine
//	keep NAME                  lets NAME be the key that was printed last, and NAME_PREFIX its prefix
//	behind STATEMENT           changes the database behind everybody's back
//	filled RELEASE             fills the database with that of an earlier release, or with receipts
//	same RELEASE               the server must answer about it as that release did
//	save                       saves the database, with the flag -fill
//	statement STATEMENT        runs a statement on the database, which no server may be using
//	unzip FILE DIRECTORY       takes a zip file apart
//	files WORD                 the word must be in the files of the database; with ! in none
//
// DATABASE_URL is a database of the script's own, and ENGINE says which kind.
func TestScripts(t *testing.T) {
	both, err := filepath.Glob("testdata/engines/*.txtar")
	if err != nil || len(both) == 0 {
		t.Fatalf("testdata/engines: %d scripts, %v", len(both), err)
	}
	if *fill != "" {
		both = []string{fillScript(*fill)}
	}
	eachEngine(t, func(t *testing.T, engine database.Engine, newDatabase func(testing.TB) string) {
		scripts := slices.DeleteFunc(slices.Clone(both), func(path string) bool {
			name := strings.TrimSuffix(filepath.Base(path), ".txtar")
			chosen, _ := databasetest.Chosen(name)
			return testing.Short() && chosen != engine && !slices.Contains(alwaysBoth, name)
		})
		if engine == database.SQLite && *fill == "" {
			own, err := filepath.Glob("testdata/script/*.txtar")
			if err != nil || len(own) == 0 {
				t.Fatalf("testdata/script: %d scripts, %v", len(own), err)
			}
			scripts = slices.Concat(scripts, own)
		}
		testscript.Run(t, testscript.Params{
			Files: scripts,
			Setup: func(env *testscript.Env) error {
				own := &server{}
				env.Values[serverKey{}] = own
				env.Defer(func() { own.end(env.T().(testing.TB)) })
				env.Values[proxyKey{}] = new(*databasetest.Proxy)
				guests := hosts{}
				env.Values[hostsKey{}] = guests
				env.Defer(guests.end)
				env.Values[followerKey{}] = &follower{}
				env.Values[receiverKey{}] = map[string]*receiver{}
				env.Values[testKey{}] = env.T().(testing.TB)
				env.Setenv("ENGINE", engine.String())
				env.Setenv("DATABASE_URL", newDatabase(env.T().(testing.TB)))
				env.Setenv("ANNALS_LISTEN", "127.0.0.1:0")
				env.Setenv("ANNALS_DATA", "data")
				env.Setenv("ANNALS_EMBEDDING_MODEL", "words") // cheap; doctor.txtar has the default
				env.Setenv("XDG_DATA_HOME", env.WorkDir+"/share")
				env.Setenv("XDG_CONFIG_HOME", env.WorkDir+"/config")
				env.Setenv("TZ", "UTC")
				env.Setenv("COLUMNS", "160")
				return nil
			},
			Cmds: map[string]func(*testscript.TestScript, bool, []string){
				"files": files, "unzip": unzip,
				"fresh": func(ts *testscript.TestScript, _ bool, _ []string) {
					ts.Setenv("DATABASE_URL", newDatabase(ts.Value(testKey{}).(testing.TB)))
				},
				"exits": exits, "serving": serving, "shutdown": shutdown, "crash": crash, "count": count,
				"many": many, "occupied": occupied, "locked": locked, "schema": schema, "behind": behind, "statement": statement,
				"phase": phase, "gauge": gauge,
				"until": until, "free-port": freePort, "detour": detour, "cut": cut, "mend": mend,
				"seal": seal, "filled": filled, "same": same, "save": save, "keep": keep, "noted": noted, "humble": humble,
				"host": host, "crowd": crowd, "leave": leave, "ask": ask, "race": race,
				"receiving": receiving, "answering": answering, "subscribed": subscribed, "received": received,
				"following": following, "followed": followed,
			},
			Condition: func(name string) (bool, error) {
				return name == engine.String(), nil
			},
			RequireUniqueNames: true,
		})
	})
}

// usage fails the script if a command is not used like this.
func usage(ts *testscript.TestScript, wrong bool, how string) {
	if wrong {
		ts.Fatalf("usage: %s", how)
	}
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2, "exits CODE COMMAND…")
	if got := exitCode(ts, args[1:]); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

func until(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) < 2, "until CODE COMMAND…")
	within(ts, time.Minute, "exit code "+args[0], func() bool { return strconv.Itoa(exitCode(ts, args[1:])) == args[0] })
}

func exitCode(ts *testscript.TestScript, command []string) int {
	err := ts.Exec(command[0], command[1:]...)
	if ended, ok := errors.AsType[*exec.ExitError](err); ok {
		return ended.ExitCode()
	}
	ts.Check(err)
	return 0
}

func count(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 2, "count N FILE")
	if got := strings.Count(ts.ReadFile(args[1]), "\n"); fmt.Sprint(got) != args[0] {
		ts.Fatalf("%s has %d lines, want %s", args[1], got, args[0])
	}
}

func unzip(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 2, "unzip FILE DIRECTORY")
	file, err := zip.OpenReader(ts.MkAbs(args[0]))
	ts.Check(err)
	ts.Check(errors.Join(os.CopyFS(ts.MkAbs(args[1]), file), file.Close()))
}

// within polls until done says so, or fails the script.
func within(ts *testscript.TestScript, patience time.Duration, what string, done func() bool) {
	for deadline := time.Now().Add(patience); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			ts.Fatalf("%s did not happen within %s", what, patience)
		}
	}
}

type proxyKey struct{}

func proxyOf(ts *testscript.TestScript) **databasetest.Proxy {
	return ts.Value(proxyKey{}).(**databasetest.Proxy)
}

func detour(ts *testscript.TestScript, _ bool, _ []string) {
	proxy := databasetest.NewProxy(ts.Value(testKey{}).(testing.TB), ts.Getenv("DATABASE_URL"))
	*proxyOf(ts) = proxy
	ts.Setenv("DATABASE_URL", proxy.URL)
}

func cut(ts *testscript.TestScript, _ bool, _ []string)  { (*proxyOf(ts)).Down() }
func mend(ts *testscript.TestScript, _ bool, _ []string) { (*proxyOf(ts)).Up() }

// seal ends a list of erasures that a story has changed.
func seal(ts *testscript.TestScript, _ bool, args []string) {
	var lines []byte
	end := serve.ListEnd{}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		if !strings.HasPrefix(line, `{"lines":`) {
			lines, end.Lines = append(lines, line...), end.Lines+1
		}
	}
	end.SHA256 = fmt.Sprintf("%x", sha256.Sum256(lines))
	last, err := json.Marshal(end)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), append(lines, last...), 0o600))
}
