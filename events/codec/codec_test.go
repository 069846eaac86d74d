package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/annals-kb/annals/domain"
)

var update = flag.Bool("update", false, "write the golden files that today's schema versions lack")

const goldens = "testdata/golden"

// golden is a fact as it was once recorded.
type golden struct {
	Data json.RawMessage `json:"data"`
	Text json.RawMessage `json:"text"`
}

func TestFactsAreWrittenAsTheirGoldenFilesSay(t *testing.T) {
	t.Parallel()
	for _, s := range samples() {
		if s.version != known()[s.fact.Name()].version {
			continue
		}
		t.Run(goldenName(s), func(t *testing.T) {
			t.Parallel()
			p, err := Encode(s.fact)
			if err != nil {
				t.Fatal(err)
			}
			if p.SchemaVersion != s.version {
				t.Errorf("got schema version %d, want %d", p.SchemaVersion, s.version)
			}
			got := indented(t, golden{Data: p.Data, Text: p.Text})
			if *update {
				writeGolden(t, s, got)
			}
			if diff := cmp.Diff(string(readGolden(t, s)), string(got)); diff != "" {
				t.Errorf("a recorded form never changes, take a new schema version and an upcaster (-golden +got):\n%s", diff)
			}
		})
	}
}

func TestEveryGoldenFileStillDecodes(t *testing.T) {
	t.Parallel()
	for _, s := range samples() {
		t.Run(goldenName(s), func(t *testing.T) {
			t.Parallel()
			var g golden
			if err := json.Unmarshal(readGolden(t, s), &g); err != nil {
				t.Fatal(err)
			}
			if string(g.Text) == "null" {
				g.Text = nil
			}
			got, err := Decode(Payload{Name: s.fact.Name(), SchemaVersion: s.version, Data: compacted(t, g.Data), Text: compacted(t, g.Text)})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(s.fact, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestEveryFactOfTheDomainHasAGoldenFile(t *testing.T) {
	t.Parallel()
	names := factNames(t)
	if len(names) < 26 {
		t.Fatalf("found only %v in the domain", names)
	}
	for _, name := range names {
		k, found := known()[name]
		if !found {
			t.Errorf("%s cannot be recorded: add it to the facts of its streams", name)
			continue
		}
		if len(k.upcasters) != k.version-1 {
			t.Errorf("%s is at schema version %d with %d upcasters", name, k.version, len(k.upcasters))
		}
		for version := 1; version <= k.version; version++ {
			isIt := func(s sample) bool { return s.fact.Name() == name && s.version == version }
			if !slices.ContainsFunc(samples(), isIt) {
				t.Errorf("%s has no sample for its schema version %d", name, version)
			}
		}
	}
	if len(known()) != len(names) {
		t.Errorf("%d kinds are known, the domain has %d facts", len(known()), len(names))
	}
}

func TestEveryGoldenFileHasASample(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(goldens, "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		isIt := func(s sample) bool { return goldenName(s) == filepath.Base(file) }
		if !slices.ContainsFunc(samples(), isIt) {
			t.Errorf("%s has no sample: a golden file is never given up", file)
		}
	}
}

func TestWhatIsPlainStaysAndWhatPeopleWroteGoes(t *testing.T) {
	t.Parallel()
	for _, s := range samples() {
		p, err := Encode(s.fact)
		if err != nil {
			t.Fatal(err)
		}
		p.Text = nil // destroyed
		fact, err := Decode(p)
		if err != nil {
			t.Errorf("%s without its text: %v", p.Name, err)
			continue
		}
		left, err := Encode(fact)
		if err != nil {
			t.Errorf("%s without its text: %v", p.Name, err)
			continue
		}
		if !bytes.Equal(left.Data, p.Data) {
			t.Errorf("%s: got %s, want %s", p.Name, left.Data, p.Data)
		}
		for _, written := range []string{"jitter", "Retries", "payment", "重试", "Release It", "example.org", "viking", "timeouts", "good", "卡住了", "retry?", "worked", "tried", "better", "wrong", "right", "moved"} {
			if bytes.Contains(p.Data, []byte(written)) {
				t.Errorf("%s keeps %q in its plain data: %s", p.Name, written, p.Data)
			}
		}
	}
}

func TestAFactThatSaysNothingHasNoText(t *testing.T) {
	t.Parallel()
	for _, fact := range []domain.Fact{
		domain.FoundHelpful{Ballot: domain.Ballot{Voter: "user:mia", Key: "day:2026-03-14"}},
		domain.Confirmed{},
		domain.Deleted{},
		domain.Rescoped{Scopes: []domain.Scope{domain.Public}},
		domain.Revised{Type: new(domain.Tool)},
		domain.Held{ReasonCode: "litigation"},
	} {
		p, err := Encode(fact)
		if err != nil {
			t.Fatal(err)
		}
		if p.Text != nil {
			t.Errorf("%s: got text %s", p.Name, p.Text)
		}
	}
}

func TestAClearedFieldIsNoUntouchedOne(t *testing.T) {
	t.Parallel()
	p, err := Encode(domain.Revised{Task: new("")})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(p.Data)+string(p.Text), `{"fields":["task"]}{"task":null}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, text := range []json.RawMessage{p.Text, nil} { // even when the text is gone
		p.Text = text
		fact, err := Decode(p)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(domain.Fact(domain.Revised{Task: new("")}), fact); diff != "" {
			t.Errorf("with text %s (-want +got):\n%s", text, diff)
		}
	}
}

func TestWhatANewerProgramWroteIsNamed(t *testing.T) {
	t.Parallel()
	for _, p := range []Payload{
		{Name: "knowledge.dreamt", SchemaVersion: 1, Data: json.RawMessage(`{}`)},
		{Name: "knowledge.deleted", SchemaVersion: 2, Data: json.RawMessage(`{}`)},
		{Name: "knowledge.deleted", SchemaVersion: 0, Data: json.RawMessage(`{}`)},
	} {
		_, err := Decode(p)
		if !errors.Is(err, ErrUnknownFact) || !strings.Contains(err.Error(), p.Name) {
			t.Errorf("%s version %d: got %v", p.Name, p.SchemaVersion, err)
		}
		if told, is := errors.AsType[*domain.Refusal](err); !is || !strings.Contains(told.Detail, "newer release") || told.Fix == "" {
			t.Errorf("%s version %d: callers are told %v", p.Name, p.SchemaVersion, told)
		}
	}
}

func TestOldSchemaVersionsAreUpcastOneByOne(t *testing.T) {
	t.Parallel()
	k := tagged(domain.ReportedStale{})
	k.version = 3
	rename := func(from, to string) upcaster {
		return func(data, text json.RawMessage) (json.RawMessage, json.RawMessage, error) {
			return bytes.ReplaceAll(data, []byte(from), []byte(to)), bytes.ReplaceAll(text, []byte(from), []byte(to)), nil
		}
	}
	k.upcasters = []upcaster{rename("who", "whom"), rename("whom", "reporter")}
	for version, data := range map[int]string{1: `{"who":"user:mia"}`, 2: `{"whom":"user:mia"}`, 3: `{"reporter":"user:mia"}`} {
		got, err := kindsOf(nil, k).decode(Payload{Name: k.name, SchemaVersion: version, Data: json.RawMessage(data)})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(domain.Fact(domain.ReportedStale{Reporter: "user:mia"}), got); diff != "" {
			t.Errorf("version %d (-want +got):\n%s", version, diff)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, s := range samples() {
		p, err := Encode(s.fact)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(p.Name, []byte(p.Data), []byte(p.Text))
	}
	f.Fuzz(func(t *testing.T, name string, data, text []byte) {
		p := Payload{Name: name, SchemaVersion: 1, Data: data}
		if len(text) > 0 {
			p.Text = text
		}
		fact, err := Decode(p)
		if err != nil {
			return
		}
		// What can be read can be written, and then means the same.
		again, err := Encode(fact)
		if err != nil {
			return // such as a time beyond the year 9999
		}
		same, err := Decode(again)
		if err != nil {
			t.Fatalf("%s %s: %v", again.Data, again.Text, err)
		}
		if diff := cmp.Diff(fact, same, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-first +again):\n%s", diff)
		}
	})
}

// factNames reads the names of all facts from the domain's source.
func factNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../domain/facts*.go")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, path := range files {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, declaration := range file.Decls {
			method, ok := declaration.(*ast.FuncDecl)
			if !ok || method.Recv == nil || method.Name.Name != "Name" {
				continue
			}
			answer := method.Body.List[0].(*ast.ReturnStmt).Results[0].(*ast.BasicLit)
			name, err := strconv.Unquote(answer.Value)
			if err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
	}
	return names
}

func goldenName(s sample) string {
	return fmt.Sprintf("%s.v%d%s.json", s.fact.Name(), s.version, gained(s.fact))
}

func readGolden(t *testing.T, s sample) []byte {
	t.Helper()
	file, err := os.ReadFile(filepath.Join(goldens, goldenName(s)))
	if err != nil {
		t.Fatalf("%v: write it with -update", err)
	}
	return file
}

// writeGolden makes a golden file that is not there yet. It never replaces one.
func writeGolden(t *testing.T, s sample, content []byte) {
	t.Helper()
	file := filepath.Join(goldens, goldenName(s))
	if _, err := os.Stat(file); err == nil {
		return
	} else if !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if err := os.MkdirAll(goldens, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content, fs.FileMode(0o644)); err != nil {
		t.Fatal(err)
	}
}

func indented(t *testing.T, g golden) []byte {
	t.Helper()
	raw, err := Marshal(g)
	if err != nil {
		t.Fatal(err)
	}
	var buffer bytes.Buffer
	if err := json.Indent(&buffer, raw, "", "  "); err != nil {
		t.Fatal(err)
	}
	return append(buffer.Bytes(), '\n')
}

func compacted(t *testing.T, raw json.RawMessage) json.RawMessage {
	t.Helper()
	if raw == nil {
		return nil
	}
	var buffer bytes.Buffer
	if err := json.Compact(&buffer, raw); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes()
}
