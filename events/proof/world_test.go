package proof_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/uptrace/bun"
	"go.uber.org/goleak"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/events/signing"
	"github.com/annals-kb/annals/projections"
)

// world is a log with a prover that has signed it, on a database of its own.
type world struct {
	t         *testing.T
	db        *database.DB
	log       *events.Log
	followers *follow.Followers
	key       signing.Key
	prover    *proof.Prover
	by        domain.Principal
}

// each runs a test in parallel on both engines, each time in a new world.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) { test(t, newWorld(t, db)) })
}

// failing is a test, or a run of a property.
type failing interface {
	Helper()
	Fatal(args ...any)
}

// must is a value without which a test ends.
func must[V any](value V, err error) func(failing) V {
	return func(t failing) V {
		t.Helper()
		noError(t, err)
		return value
	}
}

func noError(t failing, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func newWorld(t *testing.T, db *database.DB) *world {
	t.Helper()
	knowledge := must(projections.Open(t.Context(), db, projections.Settings{}))(t)
	log, followers := follow.NewLog(db, knowledge.Projection, events.Options{Selection: knowledge.Browser, Logger: databasetest.Log(t)})
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, db: db, log: log, followers: followers, by: domain.OpenPrincipal()}
	w.key = newKey(t, "annals.example")
	w.prover = proof.NewProver(db, log, followers, w.key, proof.Options{Every: time.Nanosecond, Logger: databasetest.Log(t)})
	return w
}

func newKey(t *testing.T, name string) signing.Key {
	t.Helper()
	key := must(signing.NewKey(t.TempDir(), name))(t)
	return key
}

// in is the same world as an admin of another tenant sees it.
func (w *world) in(tenant string) *world {
	other := *w
	other.by.Tenant = tenant
	return &other
}

func (w *world) submit(command domain.Command) domain.Receipt {
	w.t.Helper()
	receipt := must(w.log.Submit(w.t.Context(), domain.Submission{Command: command, By: w.by, Origin: domain.Origin{
		OccurredAt: time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC), RequestID: "r-1", CorrelationID: "c-1", CausationID: "k-1",
		Traceparent: "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", ReasonCode: "test",
	}}))(w.t)
	return receipt
}

func (w *world) remember(id string) domain.Receipt {
	w.t.Helper()
	return w.submit(w.command(id))
}

func (w *world) command(id string) domain.Command {
	w.t.Helper()
	command := must(domain.Remember{By: w.by, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Scopes: []domain.Scope{domain.Public}, Owner: "org:acme",
		Text: domain.Text{Task: "calling the payment service", Content: "Retry with jitter? 重试 " + id},
	}}.Complete())(w.t)
	return command
}

// databaseVerifier lets items be remembered and found helpful: two events each.
func (w *world) live(items int) {
	w.t.Helper()
	by := w.by
	w.by.OnBehalfOf = "user:123"
	for i := range items {
		id := fmt.Sprintf("k-%d", i)
		w.remember(id)
		w.submit(domain.GiveFeedback{
			Target: domain.Target{By: w.by, ID: id}, Verdict: domain.Helpful, TraceID: "t",
			Outcome: "worked",
		})
	}
	w.by = by
}

// grow lets the tree take in what is new, as the program does.
func (w *world) grow() {
	w.t.Helper()
	w.growTo(w.head())
}

func (w *world) head() int64 {
	w.t.Helper()
	head, _, err := w.log.Reader.Head(w.t.Context(), w.by.Tenant)
	if err != nil {
		w.t.Fatal(err)
	}
	return head
}

func (w *world) growTo(position int64) {
	w.t.Helper()
	ctx, stop := context.WithCancel(w.t.Context())
	router := must(follow.NewRouter(databasetest.Log(w.t)))(w.t)
	w.prover.Follow(router)
	ended := make(chan error)
	go func() { ended <- router.Run(ctx) }()
	databasetest.Until(w.t, "the tree has read the log", func() bool {
		status, err := w.prover.Status(w.t.Context(), w.by.Tenant)
		if err != nil {
			w.t.Error(err)
		}
		return status.Position >= position
	})
	stop()
	if err := <-ended; err != nil {
		w.t.Error(err)
	}
}

// sign signs what the tree is now.
func (w *world) sign() domain.Checkpoint {
	w.t.Helper()
	c := must(w.prover.Checkpoint(w.t.Context(), w.by.Tenant))(w.t)
	return c
}

// signed lets something happen, and signs the tree with it.
func (w *world) signed(happens func()) domain.Checkpoint {
	w.t.Helper()
	happens()
	w.grow()
	return w.sign()
}

// signingWith is the same world with a prover that has another key.
func (w *world) signingWith(key signing.Key) *world {
	other := *w
	other.key, other.prover = key, proof.NewProver(w.db, w.log, w.followers, key, proof.Options{})
	return &other
}

func (w *world) tamper(statements ...string) {
	w.t.Helper()
	databasetest.Tamper(w.t, w.db, statements...)
}

// verify is what a verification of the database states.
func (w *world) verify(v proof.Verification) *proof.Report {
	w.t.Helper()
	if v.Keys == nil {
		v.Keys = []string{w.key.Public()}
	}
	report := must(proof.Verify(w.t.Context(), w.db, v))(w.t)
	return report
}

// finds checks that a report has a fault of each of these: "kind position what it states".
func finds(t *testing.T, report *proof.Report, wanted ...string) {
	t.Helper()
	if report.Verified != (len(wanted) == 0) {
		t.Errorf("verified is %v", report.Verified)
	}
	var got []string
	for _, fault := range report.Faults {
		got = append(got, fmt.Sprintf("%s %d %s", fault.Kind, fault.Position, fault.Message))
	}
	all := strings.Join(got, "\n")
	for _, want := range wanted {
		if !strings.Contains("\n"+all, "\n"+want) {
			t.Errorf("no fault begins with %q in:\n%s", want, all)
		}
	}
	if len(wanted) == 0 && len(got) > 0 {
		t.Errorf("got faults:\n%s", all)
	}
}

// exec runs a statement as the program would.
func (w *world) exec(statement string) error {
	return w.db.Transact(w.t.Context(), func(ctx context.Context, tx bun.Tx) error {
		_, err := tx.ExecContext(ctx, statement)
		return err
	})
}

// rewrite changes who did what is recorded at a position, and computes its hash anew, as somebody would
// who knows how.
func (w *world) rewrite(position int64) {
	w.t.Helper()
	records := must(w.log.Reader.Records(w.t.Context(), "default", position-1, 1))(w.t)
	record := records[0]
	record.Actor = "user:somebody-else"
	hash := sha256.Sum256(record.Canonical())
	literal := w.pick("x'%s'", `'\x%s'`)
	w.tamper(fmt.Sprintf("UPDATE events SET actor = 'user:somebody-else', hash = "+literal+" WHERE position = %d",
		hex.EncodeToString(hash[:]), position))
}

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }
