package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/annals-kb/annals/database"
)

var fill = flag.String("fill", "", "what a script of testdata/filled fills and saves: databases of a release, or receipts")

// fillScript is the script that fills them.
func fillScript(of string) string {
	if of != "receipts" {
		of = "fill" // whatever the release
	}
	return filepath.Join("testdata", "filled", of+".txtar")
}

// askedOf are the commands whose answers a later release must give, too.
func askedOf(databases string) [][]string {
	if databases == "receipts" {
		return toldThen
	}
	return filledWith
}

// toldThen are the commands about receipts.
var toldThen = [][]string{
	{"receipt", "list", "--json", "--agent", "agent:coder"},
	{"receipt", "list", "--json", "--agent", "user:bob"},
	{"receipt", "list", "--json", "--item", "payout"},
	{"receipt", "show", "--json", "r1-1"},
	{"receipt", "show", "--json", "r1-2"},
	{"receipt", "show", "--json", "r1-3"},
	{"receipt", "show", "--json", "r1-4"},
	{"receipt", "show", "--json", "r1-5"},
	{"receipt", "show", "--json", "r1-6"},
	{"receipt", "show", "--json", "r1-7"},
	{"receipt", "show", "--json", "r1-8"},
}

// filledWith are the commands about everything else.
var filledWith = [][]string{
	{"list", "--json", "--limit", "100"},
	{"get", "--json", "backoff"},
	{"get", "--json", "profile"},
	{"get", "--json", "deploy"},
	{"get", "--json", "invoices"},
	{"history", "--json", "invoices"},
	{"history", "--json", "secret"},
	{"history", "--json", "returned"},
	{"search", "--json", "how do I treat a rate-limited API?", "--as", "user:bob"},
	{"search", "--json", "编码风格", "--as", "user:123"},
	{"list", "--json", "--as-of", "20", "--limit", "100"},
	{"session", "show", "--json", "talk"},
	{"report", "stale", "--json"},
}

// filledFile is where a release's database is saved, and the answers about it, but for the ends of their names.
func filledFile(ts *testscript.TestScript, release string) string {
	file, err := filepath.Abs(filepath.Join("testdata", "filled", release, ts.Getenv("ENGINE")))
	ts.Check(err)
	return file
}

// save writes the script's database and its answers into testdata/filled: a copy of SQLite's file, and what pg_dump says.
func save(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 0 || *fill == "", "save, with the flag -fill")
	file := filledFile(ts, *fill)
	ts.Check(os.MkdirAll(filepath.Dir(file), 0o755)) //nolint:gosec // part of the repository
	dump := exec.CommandContext(context.Background(), "pg_dump", "--inserts", "--no-owner", "--no-privileges", ts.Getenv("DATABASE_URL"))
	if ts.Getenv("ENGINE") == database.SQLite.String() {
		dump = exec.CommandContext(context.Background(), "cat", sqliteFile(ts))
	}
	contents, err := dump.Output()
	ts.Check(err)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err = w.Write(contents)
	ts.Check(err)
	ts.Check(w.Close())
	ts.Check(os.WriteFile(file+".gz", packed.Bytes(), 0o644)) //nolint:gosec // part of the repository
	serving(ts, false, nil)
	answers, err := json.MarshalIndent(answersNow(ts, *fill), "", " ")
	ts.Check(err)
	ts.Check(os.WriteFile(file+".json", append(answers, '\n'), 0o644)) //nolint:gosec // part of the repository
	ts.Check(ts.Exec("annals", "proof", "key"))
	ts.Check(os.WriteFile(file+".key", []byte(ts.ReadFile("stdout")), 0o644)) //nolint:gosec // part of the repository
}

func sqliteFile(ts *testscript.TestScript) string {
	return strings.TrimPrefix(ts.Getenv("DATABASE_URL"), "sqlite:")
}

// filled fills the script's empty database with that of a release, and lets KEY be the one that signed its checkpoints.
func filled(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "filled RELEASE")
	packed, err := os.Open(filledFile(ts, args[0]) + ".gz")
	ts.Check(err)
	defer packed.Close()
	r, err := gzip.NewReader(packed)
	ts.Check(err)
	contents, err := io.ReadAll(r)
	ts.Check(err)
	ts.Setenv("KEY", strings.TrimSpace(ts.ReadFile(filledFile(ts, args[0])+".key")))
	if ts.Getenv("ENGINE") == database.SQLite.String() {
		ts.Check(os.WriteFile(sqliteFile(ts), contents, 0o600))
		return
	}
	var statements strings.Builder
	for line := range strings.Lines(string(contents)) {
		if !strings.HasPrefix(line, `\`) { // for psql
			statements.WriteString(line)
		}
	}
	statement(ts, false, []string{statements.String()})
}

// same asks what was asked when the database was filled, and wants everything that was answered then.
func same(ts *testscript.TestScript, neg bool, args []string) {
	usage(ts, neg || len(args) != 1, "same RELEASE")
	var want map[string]any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(filledFile(ts, args[0])+".json")), &want))
	got := answersNow(ts, args[0])
	for command := range want {
		may := ofTheModel
		if strings.HasPrefix(command, "receipt ") {
			may = ofToday
		}
		if at := lost("", want[command], got[command], may); at != "" {
			ts.Fatalf("annals %s: %s is not what it was: got %v, want %v", command, at, got[command], want[command])
		}
	}
}

// answersNow are the answers of the running server about filled databases. A canonical answer is a string: its bytes.
func answersNow(ts *testscript.TestScript, databases string) map[string]any {
	answers := map[string]any{}
	for _, command := range askedOf(databases) {
		ts.Check(ts.Exec("annals", command...))
		stdout := []byte(ts.ReadFile("stdout"))
		var answer any
		ts.Check(json.Unmarshal(stdout, &answer))
		if fields, is := answer.(map[string]any); is && fields["answer"] != nil {
			var shown struct{ Answer json.RawMessage }
			var canonical bytes.Buffer
			ts.Check(json.Unmarshal(stdout, &shown))
			ts.Check(json.Compact(&canonical, shown.Answer))
			fields["answer"] = canonical.String()
		}
		answers[strings.Join(command, " ")] = answer
	}
	return answers
}

// ofTheModel are fields that depend on the embedder, of which a release may have another one.
var ofTheModel = []string{"embedder", "score", "semantic", "weight", "min_score"}

// ofToday are fields of receipts about items as they are now.
var ofToday = []string{"title"}

// lost is where something that an answer had is missing or different, empty if nothing is. Fields may have come, and
// some may differ.
func lost(at string, want, got any, may []string) string {
	switch want := want.(type) {
	case map[string]any:
		fields, _ := got.(map[string]any)
		for name := range want {
			if slices.Contains(may, name) {
				continue
			}
			if found := lost(at+"/"+name, want[name], fields[name], may); found != "" {
				return found
			}
		}
	case []any:
		elements, _ := got.([]any)
		if len(elements) != len(want) {
			return at
		}
		for i := range want {
			if found := lost(fmt.Sprintf("%s/%d", at, i), want[i], elements[i], may); found != "" {
				return found
			}
		}
	case float64: // logarithms differ in their last digits by the processor
		if number, is := got.(float64); !is || math.Abs(number-want) > 1e-6 {
			return at
		}
	default:
		if want != got {
			return at
		}
	}
	return ""
}
