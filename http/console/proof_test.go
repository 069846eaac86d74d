package console_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/events/signing"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/console/browsertest"
	"github.com/annals-kb/annals/projections"
)

// leaves is the size of the largest tree.
const leaves = 70

// ledger is a signed log, with the proofs of each of its sizes.
type ledger struct {
	t       *testing.T
	db      *database.DB
	prover  *proof.Prover
	records []events.Record
	lines   []json.RawMessage // the records as the API has them
	stored  []tlog.Hash
	signer  note.Signer
	key     string
}

func newLedger(t *testing.T, db *database.DB) *ledger {
	t.Helper()
	directory := t.TempDir()
	key := must(signing.NewKey(directory, "annals.example/test"))(t)
	private := must(os.ReadFile(filepath.Join(directory, "log.key")))(t)
	knowledge := must(projections.Open(t.Context(), db, projections.Settings{}))(t)
	log, followers := follow.NewLog(db, knowledge.Projection, events.Options{Selection: knowledge.Browser, Logger: databasetest.Log(t)})
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	l := &ledger{
		t: t, db: db, key: key.Public(), signer: must(note.NewSigner(strings.TrimSpace(string(private))))(t),
		prover: proof.NewProver(db, log, followers, key, proof.Options{Every: time.Nanosecond, Logger: databasetest.Log(t)}),
	}
	for i := range leaves / 2 {
		l.live(log, fmt.Sprintf("k-%d", i))
	}
	l.records = must(log.Reader.Records(t.Context(), "default", 0, leaves))(t)
	for i, record := range l.records {
		proven := l.proven(record)
		l.lines = append(l.lines, proven.Record)
		hashes := must(tlog.StoredHashes(int64(i), record.Hash, l))(t)
		l.stored = append(l.stored, hashes...)
	}
	return l
}

// live lets an item be remembered and found helpful: two events, the second with all fields.
func (l *ledger) live(log *events.Log, id string) {
	l.t.Helper()
	by := domain.OpenPrincipal()
	remember := must(domain.Remember{By: by, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Scopes: []domain.Scope{domain.Public}, Owner: "org:acme",
		Text: domain.Text{Task: "calling the payment service", Content: "Retry with jitter? <重试> 🔁 " + id},
	}}.Complete())(l.t)
	must(log.Submit(l.t.Context(), domain.Submission{Command: remember, By: by}))(l.t)
	by.OnBehalfOf = "user:123"
	must(log.Submit(l.t.Context(), domain.Submission{
		By: by,
		Command: domain.GiveFeedback{
			Target: domain.Target{By: by, ID: id}, Verdict: domain.Helpful, TraceID: "跟踪 <t> & \"q\"", Outcome: "worked",
		},
		Origin: domain.Origin{
			OccurredAt: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), RequestID: "r-1", CorrelationID: "c-1",
			CausationID: "k-1", Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", ReasonCode: "test",
		},
	}))(l.t)
}

func (l *ledger) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	hashes := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		hashes[i] = l.stored[index]
	}
	return hashes, nil
}

// proven is the proof of a record as the server makes it now.
func (l *ledger) proven(record events.Record) domain.Inclusion {
	l.t.Helper()
	return must(l.prover.Inclusion(l.t.Context(), record.Tenant, domain.Entry{
		EventID: record.EventID, Stream: record.Stream, Position: record.Position, Hash: record.Hash,
	}, false))(l.t)
}

// checkpoint is the signed checkpoint of the first size events.
func (l *ledger) checkpoint(size int) api.Checkpoint {
	l.t.Helper()
	root := must(tlog.TreeHash(int64(size), l))(l.t)
	return l.sign(l.signer, "annals.example/test/default", size, root)
}

func (l *ledger) sign(by note.Signer, origin string, size int, root tlog.Hash) api.Checkpoint {
	l.t.Helper()
	encoded := base64.StdEncoding.EncodeToString(root[:])
	text := fmt.Sprintf("%s\n%d\n%s\n", origin, size, encoded)
	signed := must(note.Sign(&note.Note{Text: text}, by))(l.t)
	return api.Checkpoint{Origin: origin, Size: int64(size), Root: encoded, Note: string(signed)}
}

// inclusion is the proof that the log of size events contains the one at position.
func (l *ledger) inclusion(position, size int) api.Inclusion {
	l.t.Helper()
	record := l.records[position-1]
	return api.Inclusion{
		EventID: record.EventID, Stream: record.Stream, Position: record.Position, Hash: hex.EncodeToString(record.Hash),
		Record: l.lines[position-1], Checkpoint: l.checkpoint(size),
		Path: encoded(must(tlog.ProveRecord(int64(size), int64(position-1), l))(l.t)),
	}
}

// continuation is the proof that the log of to events continues the one of from events.
func (l *ledger) continuation(from, to int) proof.Continuation {
	l.t.Helper()
	return proof.Continuation{
		Earlier: l.checkpoint(from).Note, Later: l.checkpoint(to).Note,
		Path: encoded(must(tlog.ProveTree(int64(to), int64(from), l))(l.t)),
	}
}

func encoded(hashes []tlog.Hash) []string {
	texts := make([]string, len(hashes))
	for i, hash := range hashes {
		texts[i] = base64.StdEncoding.EncodeToString(hash[:])
	}
	return texts
}

// verification is a proof, and the steps that are expected to fail.
type verification struct {
	Name  string
	Proof any
	Key   string
	Fails string

	stricter bool // than annals verify, which ignores fields that it does not know
}

func (l *ledger) genuine(name string, from, to int, proof any) verification {
	return verification{Name: fmt.Sprintf(name, from, to), Proof: proof, Key: l.key}
}

// verified returns the names of the steps that failed in the browser, one line for each verification.
func verified(t *testing.T, all []verification) (failed []string) {
	t.Helper()
	files := map[string][]byte{}
	for part := range slices.Chunk(all, 500) {
		files[fmt.Sprintf("/%d.json", len(files))] = must(json.Marshal(part))(t)
	}
	page := browser(t, files)
	for i := range len(files) {
		var names []string
		page.Eval(fmt.Sprintf(`(async () => {
			const { inclusion, consistency } = await import("/proof.js");
			const all = await (await fetch("/%d.json")).json();
			return Promise.all(all.map(async ({ Proof: p, Key: key }) => {
				const steps = await (p.later ? consistency(p.earlier, p.later, p.path, key) : inclusion(p, key));
				return steps.filter((step) => step.ok !== true).map((step) => step.name).join(" ");
			}));
		})()`, i), &names)
		failed = append(failed, names...)
	}
	return failed
}

// browser opens a page of a server that has the modules of the console and the files.
func browser(t *testing.T, files map[string][]byte) *browsertest.Page {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; connect-src 'self'; "+
			"img-src data:; require-trusted-types-for 'script'; trusted-types 'none'")
		if content, is := files[r.URL.Path]; is {
			_, _ = w.Write(content)
			return
		}
		if strings.HasSuffix(r.URL.Path, ".js") {
			http.ServeFile(w, r, filepath.Join("assets", filepath.Base(r.URL.Path)))
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>proof</title>`))
	}))
	t.Cleanup(server.Close)
	page := browsertest.Open(t, server.URL)
	page.Go("/")
	return page
}

// hold compares what the browser says of each proof with what is expected, and with what annals verify says.
func hold(t *testing.T, all []verification) {
	t.Helper()
	failed := verified(t, all)
	if len(failed) != len(all) {
		t.Fatalf("got %d answers, want %d", len(failed), len(all))
	}
	want, got := map[string]string{}, map[string]string{}
	for i, v := range all {
		want[v.Name], got[v.Name] = v.Fails, failed[i]
		if err := checked(t, v); !v.stricter && (err == nil) != (failed[i] == "") {
			t.Errorf("%s: Go says %v, the browser %q", v.Name, err, failed[i])
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("steps that fail (-want +got):\n%s", diff)
	}
}

// checked is what annals verify says of a proof.
func checked(t *testing.T, v verification) error {
	t.Helper()
	if continuation, is := v.Proof.(proof.Continuation); is {
		_, _, err := continuation.Check(v.Key)
		return err
	}
	var certificate proof.Certificate
	text := must(json.Marshal(v.Proof))(t)
	if err := json.Unmarshal(text, &certificate); err != nil {
		return err
	}
	_, err := certificate.Check(v.Key)
	return err
}

func TestTheBrowserVerifiesEveryProofOfEveryTree(t *testing.T) {
	t.Parallel()
	db := databasetest.Open(t, databasetest.Migrated(t, database.SQLite))
	l := newLedger(t, db)
	var all []verification
	for size := 1; size <= leaves; size++ {
		for i := 1; i <= size; i++ {
			all = append(all, l.genuine("%d in %d", i, size, l.inclusion(i, size)))
			if (i+size)%3 == 0 || i == size {
				all = append(all, l.genuine("%d to %d", i, size, l.continuation(i, size)))
			}
		}
	}
	hold(t, all)
}
