package serve

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/keys"
)

func TestAReplayErasesEveryKindOfThingThatAListNames(t *testing.T) {
	eachRestored(t, func(w *restored) {
		w.say("locker", 1)
		w.submit(w.key("abcdefghij"))
		list := w.list(
			Erasure{Stream: "session:ann/locker"},
			Erasure{Stream: "key:abcdefghij"},
			Erasure{Stream: "session:ann/never"},
			Erasure{Stream: "knowledge:never"},
		)
		w.haveTexts(2)
		strangers := []string{"session:ann/never", "knowledge:never"}
		w.replays(list, Replayed{Erased: 2, Unknown: 2, UnknownStreams: strangers})
		w.haveTexts(0)
		w.replays(list, Replayed{Known: 2, Unknown: 2, UnknownStreams: strangers})
	})
}

// A list may stay set: what is said in a session that is begun again is not on it.
func TestAReplayLeavesWhatWasSaidSince(t *testing.T) {
	eachRestored(t, func(w *restored) {
		w.say("locker", 1)
		first := Erasure{Stream: "session:ann/locker", RecordedAt: time.Unix(1, 0)}
		second := Erasure{Stream: "session:ann/locker", RecordedAt: time.Unix(2, 0)}
		list := w.list(second, first)
		w.replays(list, Replayed{Erased: 1})
		w.say("locker", 2)
		w.replays(list, Replayed{Known: 1})
		w.haveTexts(1) // what was said since
		w.replays(w.list(Erasure{Stream: "session:ann/locker"}), Replayed{Erased: 1})
	})
}

func TestAReplayErasesATenantAgain(t *testing.T) {
	eachRestored(t, func(w *restored) {
		w.submit(w.key("ofdefault1"))
		w.tenant("acme")
		w.say("locker", 1)
		w.submit(w.key("withanote1"))
		w.submit(w.remember("lunch"))
		w.submit(w.remember("unlisted"))
		later := time.Now().Add(time.Hour)
		list := w.list(
			Erasure{Stream: "tenant:acme", RecordedAt: later},
			Erasure{Stream: "knowledge:lunch", RecordedAt: later},
			Erasure{Stream: "session:ann/locker", RecordedAt: later},
		)
		w.replays(list, Replayed{Erased: 3})
		w.haveTexts(1) // the note of another tenant's key
		w.opens("withanote1", false)
		if lives, err := w.keys().Lives(w.Context(), "acme"); err != nil || lives {
			w.Errorf("the tenant lives: %t, %v", lives, err)
		}
		w.replays(list, Replayed{Known: 3})
		w.by.Tenant = domain.DefaultTenant
		w.opens("ofdefault1", true)
	})
}

// A key that was revoked after the backup opens again in it.
func TestAReplayRevokesKeysAgain(t *testing.T) {
	eachRestored(t, func(w *restored) {
		w.submit(w.key("stolen1234"))
		w.submit(w.key("madesince1"))
		w.submit(w.key("inuse12345"))
		later := time.Now().Add(time.Hour)
		list := w.list(
			Erasure{Stream: "key:stolen1234", Revoked: true, RecordedAt: later},
			Erasure{Stream: "key:stolen1234", RecordedAt: later},
			Erasure{Stream: "key:madesince1", Revoked: true, RecordedAt: time.Unix(1, 0)},
			Erasure{Stream: "key:never12345", Revoked: true, RecordedAt: later},
		)
		strangers := []string{"key:madesince1", "key:never12345"}
		w.opens("stolen1234", true)
		w.replays(list, Replayed{Erased: 1, Revoked: 1, Unknown: 2, UnknownStreams: strangers})
		w.opens("stolen1234", false)
		w.opens("madesince1", true)
		w.opens("inuse12345", true)
		w.replays(list, Replayed{Known: 1, RevokedBefore: 1, Unknown: 2, UnknownStreams: strangers})
	})
}

// A key that was rotated after the backup has no end in it, and the one that took its place was never there.
func TestAReplayLetsRotatedKeysEndAsTheyDid(t *testing.T) {
	eachRestored(t, func(w *restored) {
		for _, prefix := range []string{"overlong12", "ending1234", "revoked123", "inuse12345"} {
			w.submit(w.key(prefix))
		}
		w.submit(domain.RevokeKey{By: w.by, Prefix: "revoked123"})
		later, ended, ends := time.Now().Add(time.Hour), time.Now().Add(-time.Minute), time.Now().Add(time.Hour)
		list := w.list(
			Erasure{Stream: "key:overlong12", ReplacedBy: "successor1", Until: ended, RecordedAt: later},
			Erasure{Stream: "key:ending1234", ReplacedBy: "successor2", Until: ends, RecordedAt: later},
			Erasure{Stream: "key:revoked123", ReplacedBy: "successor3", Until: ended, RecordedAt: later},
			Erasure{Stream: "key:inuse12345", ReplacedBy: "successor4", Until: ended, RecordedAt: time.Unix(1, 0)},
			Erasure{Stream: "key:never12345", ReplacedBy: "successor5", Until: ended, RecordedAt: later},
		)
		strangers := []string{"key:inuse12345", "key:never12345"}
		w.opens("overlong12", true)
		w.replays(list, Replayed{Rotated: 2, RotatedBefore: 1, Unknown: 2, UnknownStreams: strangers})
		w.opens("overlong12", false)
		w.opens("ending1234", true)
		w.opens("inuse12345", true)
		if got := w.given("ending1234"); !got.ExpiresAt.Equal(ends.Truncate(time.Microsecond)) ||
			got.ReplacedBy != "successor2" {
			w.Errorf("the key ends at %v, replaced by %q", got.ExpiresAt, got.ReplacedBy)
		}
		w.replays(list, Replayed{RotatedBefore: 3, Unknown: 2, UnknownStreams: strangers})
		w.replays(w.list(Erasure{Stream: "key:ending1234", Revoked: true, RecordedAt: later}, list[1]),
			Replayed{Revoked: 1, RotatedBefore: 1})
		w.opens("ending1234", false)
	})
}

// A role that was taken away after the backup is there again in it. The list gives none back, and what root decided
// after it stays.
func TestAReplayDemotesKeysAgainAndPromotesNone(t *testing.T) {
	eachRestored(t, func(w *restored) {
		w.by = domain.SystemPrincipal()
		w.by.Tenant = domain.DefaultTenant
		for prefix, role := range map[string]domain.Role{
			"wasadmin12": domain.Admin, "wasroot123": domain.Root, "wasmember1": domain.Member, "tworoles12": domain.Admin,
			"service123": domain.Service, "madesince1": domain.Admin, "isthemost1": domain.Member,
		} {
			w.submit(w.keyOf(prefix, role))
		}
		changed := time.Now()
		list := w.list(
			Erasure{Stream: "key:wasadmin12", Role: domain.Member, RecordedAt: changed},
			Erasure{Stream: "key:wasroot123", Role: domain.Admin, RecordedAt: changed},
			Erasure{Stream: "key:wasmember1", Role: domain.Admin, RecordedAt: changed},
			Erasure{Stream: "key:tworoles12", Role: domain.Auditor, RecordedAt: changed},
			Erasure{Stream: "key:tworoles12", Role: domain.Member, RecordedAt: changed.Add(-time.Microsecond)},
			Erasure{Stream: "key:service123", Role: domain.Auditor, RecordedAt: changed},
			Erasure{Stream: "key:madesince1", Role: domain.Member, RecordedAt: time.Unix(1, 0)},
			Erasure{Stream: "key:isthemost1", Role: domain.Member, RecordedAt: changed},
			Erasure{Stream: "key:never12345", Role: domain.Member, RecordedAt: changed},
		)
		strangers := []string{"key:madesince1", "key:never12345"}
		w.replays(list, Replayed{Demoted: 4, DemotedBefore: 2, Unknown: 2, UnknownStreams: strangers})
		want := map[string]domain.Role{
			"wasadmin12": domain.Member, "wasroot123": domain.Admin, "wasmember1": domain.Member, "tworoles12": domain.Auditor,
			"service123": domain.Member, "madesince1": domain.Admin, "isthemost1": domain.Member,
		}
		w.haveRoles(want)
		w.replays(list, Replayed{DemotedBefore: 6, Unknown: 2, UnknownStreams: strangers})
		for _, prefix := range []string{"wasadmin12", "isthemost1"} {
			w.submit(domain.ChangeRole{By: w.by, Prefix: prefix, Role: domain.Admin})
			want[prefix] = domain.Admin
		}
		w.replays(list, Replayed{DemotedBefore: 6, Unknown: 2, UnknownStreams: strangers})
		w.haveRoles(want)
	})
}

// A list that is replayed where it was written finds everything done.
func TestAReplayLeavesARoleThatWasGivenBackAfterTheListWasWritten(t *testing.T) {
	eachRestored(t, func(w *restored) {
		w.by = domain.SystemPrincipal()
		w.by.Tenant = domain.DefaultTenant
		w.submit(w.keyOf("forgiven12", domain.Admin))
		w.submit(domain.ChangeRole{By: w.by, Prefix: "forgiven12", Role: domain.Member})
		history, err := w.log.Reader.Stream(database.ForTenant(w.Context(), w.by.Tenant), w.by.Tenant, "key:forgiven12")
		if err != nil {
			w.Fatal(err)
		}
		demoted := history[len(history)-1]
		w.submit(domain.ChangeRole{By: w.by, Prefix: "forgiven12", Role: domain.Admin})
		line := Erasure{Stream: demoted.Stream, Role: domain.Member, EventID: demoted.EventID, RecordedAt: demoted.RecordedAt}
		w.replays(w.list(line), Replayed{DemotedBefore: 1})
		w.haveRoles(map[string]domain.Role{"forgiven12": domain.Admin})
	})
}

// The default tenant lives on after it was erased, and a name may have been given anew.
func TestAReplayLeavesTheTenantThatBeganAfterTheErasure(t *testing.T) {
	eachRestored(t, func(w *restored) {
		w.submit(w.key("ofdefault1"))
		w.submit(w.remember("lunch"))
		was, later := time.Unix(1, 0), time.Now().Add(time.Hour)
		w.replays(w.list(Erasure{Stream: "tenant:default", RecordedAt: was}), Replayed{Known: 1})
		w.opens("ofdefault1", true)
		w.replays(w.list(Erasure{Stream: "tenant:default", RecordedAt: later}), Replayed{Erased: 1})
		w.opens("ofdefault1", false)
		w.tenant("acme")
		w.submit(w.remember("lunch"))
		w.submit(w.key("ofacme1234"))
		w.replays(w.list(Erasure{Stream: "tenant:acme", RecordedAt: was}),
			Replayed{Unknown: 1, UnknownStreams: []string{"tenant:acme"}})
		w.opens("ofacme1234", true)
		w.haveTexts(4) // those of both tenants
	})
}

// A replay that was killed in the middle of a tenant goes on where it was.
func TestAReplayGoesOnWithATenant(t *testing.T) {
	eachRestored(t, func(w *restored) {
		w.tenant("acme")
		w.submit(w.remember("lunch"))
		line := Erasure{
			Stream: "tenant:acme", EventID: "01a1fe44-b7e6-714e-9df0-cd6cd361d3b0",
			RecordedAt: time.Now().Add(time.Hour),
		}
		by := domain.SystemPrincipal()
		by.Tenant = "acme"
		killed := domain.Submission{
			By: by, Command: domain.OrderErasure{
				By: by, ID: "killed", Of: line.Stream,
				ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"},
			},
			Origin: domain.Origin{CausationID: line.EventID},
		}
		if _, err := w.log.Submit(database.ForTenant(w.Context(), "acme"), killed); err != nil {
			w.Fatal(err)
		}
		w.replays(w.list(line), Replayed{Known: 1})
		w.haveTexts(0)
	})
}

// restored is a database that knows nothing of what a list of erasures names.
type restored struct {
	*testing.T

	db        *database.DB
	log       *events.Log
	knowledge *projections.Knowledge
	by        domain.Principal
	lines     int // of lists so far
}

func eachRestored(t *testing.T, test func(w *restored)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) { test(restoredBackup(t, db)) })
}

func restoredBackup(t *testing.T, db *database.DB) *restored {
	t.Helper()
	knowledge, err := projections.Open(t.Context(), db, projections.Settings{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	log := events.NewLog(db, knowledge.Projection, events.Options{Selection: knowledge.Browser, Policy: knowledge.Policy(), Logger: databasetest.Log(t)})
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return &restored{T: t, db: db, log: log, knowledge: knowledge, by: domain.OpenPrincipal()}
}

// tenant makes one, and goes there.
func (w *restored) tenant(name string) {
	w.Helper()
	w.by = domain.SystemPrincipal()
	w.submit(domain.CreateTenant{By: w.by, Name: name})
	w.by.Tenant = name
}

func (w *restored) keys() *keys.Keys { return keys.NewKeys(w.db, w.log) }

func (w *restored) opens(prefix string, want bool) {
	w.Helper()
	if key := w.given(prefix); (key.CheckValid(time.Now()) == nil) != want {
		w.Errorf("the key %s is %+v", prefix, key)
	}
}

func (w *restored) given(prefix string) domain.Key {
	w.Helper()
	stream, err := w.log.Reader.State(database.ForTenant(w.Context(), w.by.Tenant), w.by.Tenant, domain.KeyStreams.Of(prefix))
	key, is := stream.State.(domain.Key)
	if err != nil || !is {
		w.Fatalf("the key %s is %+v, %v", prefix, stream, err)
	}
	return key
}

func (w *restored) haveRoles(want map[string]domain.Role) {
	w.Helper()
	got := map[string]domain.Role{}
	for prefix := range want {
		got[prefix] = w.given(prefix).Role
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Error(diff)
	}
}

func (w *restored) remember(id string) domain.Command {
	w.Helper()
	command, err := domain.Remember{By: w.by, ID: id, Knowledge: domain.Remembered{
		Class: domain.Class{Type: domain.Definition}, Owner: "user:ann", Scopes: []domain.Scope{"public"},
		Text: domain.Text{Content: "Ann has her lunch at noon"},
	}}.Complete()
	if err != nil {
		w.Fatal(err)
	}
	return command
}

func (w *restored) session(id string) domain.SessionTarget {
	return domain.SessionTarget{By: w.by, Owner: "user:ann", ID: id}
}

func (w *restored) say(session string, seven int) {
	w.Helper()
	w.submit(domain.AddMessages{SessionTarget: w.session(session), Messages: []domain.NewMessage{{
		Role: domain.RoleUser, Tokens: seven, Message: domain.Message{Parts: []domain.Part{{
			Type: domain.PartText,
			Text: "my locker code is seven",
		}}},
	}}})
}

func (w *restored) key(prefix string) domain.Command { return w.keyOf(prefix, domain.Member) }

func (w *restored) keyOf(prefix string, role domain.Role) domain.Command {
	return domain.CreateKey{By: w.by, Prefix: prefix, Key: domain.KeyCreated{
		Subject: "user:ann", Role: role, Hash: strings.Repeat("0", 64), Note: "for Ann's new telephone",
	}}
}

func (w *restored) submit(command domain.Command) {
	w.Helper()
	ctx := database.ForTenant(w.Context(), w.by.Tenant)
	if _, err := w.log.Submit(ctx, domain.Submission{By: w.by, Command: command}); err != nil {
		w.Fatal(err)
	}
}

// list gives each line the tenant and, if it has none, an id of its own.
func (w *restored) list(lines ...Erasure) []Erasure {
	for i := range lines {
		lines[i].Tenant, lines[i].ReasonCode = w.by.Tenant, "gdpr-17"
		if w.lines++; lines[i].EventID == "" {
			lines[i].EventID = fmt.Sprintf("01a1fe44-b7e6-714e-9df0-cd6cd361%04x", w.lines)
		}
	}
	return lines
}

func (w *restored) replays(list []Erasure, want Replayed) {
	w.Helper()
	got, err := ReplayList(w.Context(), w.log, projections.NewEraser(w.knowledge, w.log, databasetest.Log(w)), list)
	if err != nil {
		w.Fatal(err)
	}
	if want.UnknownStreams == nil {
		want.UnknownStreams = []string{}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		w.Error(diff)
	}
}

func (w *restored) haveTexts(want int) {
	w.Helper()
	var got int
	err := w.db.QueryRowContext(database.ForEveryTenant(w.Context()), "SELECT count(*) FROM event_texts").Scan(&got)
	if err != nil || got != want {
		w.Fatalf("%d texts, %v, want %d", got, err, want)
	}
}
