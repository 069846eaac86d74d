package logtest

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// InstanceID opens the inline projection under test on a migrated database, which may have been used before.
type InstanceID func(t *testing.T, db *database.DB) events.Inline

// Run runs the suite on both engines. Some tests start the test program again as a child process. Call Run
// from a top-level test, and do nothing slow before.
func Run(t *testing.T, open InstanceID) {
	t.Helper()
	if isChild() {
		beChild(t, open)
		return
	}
	for name, test := range onBothEngines() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			databasetest.Each(t, func(t *testing.T, db *database.DB) {
				test(newWorld(t, db, open))
			})
		})
	}
	for name, test := range onItsOwn() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, open)
		})
	}
}

// onBothEngines are the tests that need nothing but a log.
func onBothEngines() map[string]func(*world) {
	return map[string]func(*world){
		"positions are dense and in commit order":          positionsAreDense,
		"what is read is what was answered":                readIsAnswered,
		"times never decrease":                             timesNeverDecrease,
		"of twenty edits of one revision one wins":         oneEditWins,
		"two hundred votes at once all count":              votesAllCount,
		"a receipt shows the item as a replay does":        receiptsAreReplays,
		"a repeated request is answered as the first time": repeatedRequest,
		"a repeated request knows its events from others'": repeatedAmongOthers,
		"one key with two requests is refused":             keyReused,
		"one request twenty times at once has one effect":  racingRequests,
		"a request without effect is remembered too":       repeatedNothing,
		"a refused request may come again with its key":    refusedRequest,
		"keys belong to their subject and tenant":          keysAreApart,
		"a repeated request about an erased item is gone":  repeatedAfterErasure,
		"what fails leaves nothing and spoils nothing":     failureLeavesNothing,
		"a decision that panics fails alone":               panicFailsAlone,
		"commands that cannot be written down are refused": unwritable,
		"commands that come together succeed together":     together,
		"a COMMIT that fails is no success":                failedCommit,
		"somebody else's open transaction stalls nobody":   othersTransactions,
		"a full queue refuses and loses nothing":           fullQueue,
		"a caller who gives up in time leaves no trace":    cancelledCaller,
		"closing finishes what was accepted":               closeDrains,
		"closing gives up when its time is over":           closeGivesUp,
		"a destroyed text leaves a log that verifies":      destroyedText,
		"tenants know nothing of each other":               tenantsAreApart,
		"things other than knowledge have streams":         otherStreams,
		"what streams come to is what folding says":        statesAreFolds,
		"long streams cost what short ones do":             longStreams,
		"what people wrote stays out of states":            textless,
		"commands look up streams and items":               lookups,
		"streams take no facts but their own":              strictStreams,
		"five thousand commands take few transactions":     manyCommands,
		"two items of one transaction want one place":      takenPlace,
	}
}

// onItsOwn are the tests that create their own databases. Most need PostgreSQL, since a test cannot cut the
// connection of a process to its SQLite file.
func onItsOwn() map[string]func(*testing.T, InstanceID) {
	return map[string]func(*testing.T, InstanceID){
		"a COMMIT that nobody answers is looked up":       unansweredCommit,
		"a COMMIT that stays unknown is said to be":       unknownCommit,
		"a server that is away is unavailable then found": awayAndBack,
		"a writer that ignores the lock spoils no append": rudeWriter,
		"several processes share one log":                 processes,
		"a process that is killed has kept its word":      killed,
	}
}

// world is a log on a database of its own, with one principal.
type world struct {
	*testing.T
	db   *database.DB
	open InstanceID
	log  *events.Log
	by   domain.Principal
}

func newWorld(t *testing.T, db *database.DB, open InstanceID) *world {
	t.Helper()
	w := &world{T: t, db: db, open: open, by: domain.OpenPrincipal()}
	w.log = w.newLog(open(t, db), events.Options{})
	return w
}

// newLog opens another log on the same database, like a second process.
func (w *world) newLog(inline events.Inline, options events.Options) *events.Log {
	w.Helper()
	options.Logger = cmp.Or(options.Logger, databasetest.Log(w))
	log := events.NewLog(w.db, inline, options)
	w.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(w.Context())); err != nil {
			w.Errorf("close log: %v", err)
		}
	})
	return log
}

// remember is the command for a public item.
func (w *world) remember(id string) domain.Command {
	w.Helper()
	command, err := domain.Remember{By: w.by, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Strategy}, Scopes: []domain.Scope{domain.Public}, Owner: "org:acme",
		Text: domain.Text{Task: "calling the payment service", Content: "Retry with jitter? 重试 '" + id + `' \ ok`},
	}}.Complete()
	if err != nil {
		w.Fatal(err)
	}
	return command
}

func (w *world) vote(id, trace string) domain.Command {
	return domain.GiveFeedback{
		Target: domain.Target{By: w.by, ID: id}, Verdict: domain.Helpful, TraceID: trace, Outcome: "worked",
	}
}

func (w *world) revise(id, content string, revisions ...int64) domain.Command {
	return domain.Revise{
		Target: domain.Target{By: w.by, ID: id, Revisions: revisions}, Changes: domain.Revised{Content: &content},
	}
}

// submission carries a command of w.by.
func (w *world) submission(command domain.Command) domain.Submission {
	return domain.Submission{Command: command, By: w.by}
}

// keyed is a submission with an idempotency key.
func (w *world) keyed(command domain.Command, key string, fingerprint byte) domain.Submission {
	s := w.submission(command)
	s.Request = &domain.Request{
		Key: key, Fingerprint: domain.FingerprintOf([]string{command.Stream()}, string(fingerprint)),
	}
	return s
}

// must submits a command that must not be refused.
func (w *world) must(s domain.Submission) domain.Receipt {
	w.Helper()
	receipt, err := w.log.Submit(w.Context(), s)
	if err != nil {
		w.Fatalf("submit %T about %s: %v", s.Command, s.Command.Stream(), err)
	}
	return receipt
}

// do is must for a command of w.by.
func (w *world) do(command domain.Command) domain.Receipt {
	w.Helper()
	return w.must(w.submission(command))
}

// events reads the tenant's whole log, and checks that it is sound.
func (w *world) events() []domain.Event {
	w.Helper()
	return w.check(w.by.Tenant)
}

// All reads a tenant's whole log.
func All(t testing.TB, l *events.Log, tenant string) []domain.Event {
	t.Helper()
	all, err := l.Reader.Read(t.Context(), tenant, 0, everything)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

const everything = 1_000_000 // events of a test

// check reads a tenant's log: positions and versions are dense, times do not decrease, and every record verifies.
func (w *world) check(tenant string) []domain.Event {
	w.Helper()
	versions := map[string]int64{}
	records, err := w.log.Reader.Records(w.Context(), tenant, 0, everything)
	if err != nil {
		w.Fatal(err)
	}
	for _, r := range records {
		text := hmac.New(sha256.New, r.Salt)
		text.Write(r.Text)
		if sum := sha256.Sum256(r.Canonical()); !bytes.Equal(sum[:], r.Hash) ||
			(r.Text != nil || r.Salt != nil) && !bytes.Equal(text.Sum(nil), r.TextCommitment) {
			w.Errorf("position %d does not match its hash", r.Position)
		}
	}
	all := All(w, w.log, tenant)
	for n, event := range all {
		versions[event.Stream]++
		if event.Version != versions[event.Stream] {
			w.Errorf("position %d: got version %d of %s", event.Position, event.Version, event.Stream)
		}
		if n > 0 && (event.RecordedAt.Before(all[n-1].RecordedAt) || event.EventID <= all[n-1].EventID) {
			w.Errorf("position %d comes after %+v", event.Position, all[n-1])
		}
	}
	return all
}

// at replays an item.
func (w *world) at(id string, version int64) *domain.Knowledge {
	w.Helper()
	history, err := w.log.Reader.Stream(w.Context(), w.by.Tenant, domain.KnowledgeStream(id))
	k := &domain.Knowledge{ID: id}
	for i := 0; i < len(history) && history[i].Version <= version && err == nil; i++ {
		err = k.Evolve(history[i].Fact, history[i].Metadata(), domain.DefaultConfidence())
	}
	if err != nil {
		w.Fatal(err)
	}
	return k
}

// member is another principal of the same tenant.
func (w *world) member(name string) domain.Principal {
	return domain.Principal{
		Tenant: w.by.Tenant, Subject: domain.Entity("user:" + name), Role: domain.Member, Authentication: "key:test",
	}
}

func numbered(prefix string, i int) string { return fmt.Sprintf("%s-%d", prefix, i) }
