package servertest

import (
	"context"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// Caller is somebody who asks a server.
type Caller struct {
	Self    string // whose items are its own
	Headers []Header
	Silent  []Header // the same with a key that does not let it write to everybody
}

// Group is whose items the callers of [EachPeopled] share, and Stranger is none of them.
const Group, Stranger = "team:pay", "user:bob"

// EachPeopled runs a test on both engines, in a world with every kind of caller.
func EachPeopled(t *testing.T, test func(t *testing.T, w *World, people map[string]Caller)) {
	t.Helper()
	t.Parallel()
	databasetest.EachServed(t, func(t *testing.T, db *database.DB) {
		heard := &Statements{}
		db.AddQueryHook(heard)
		w := NewWorld(t, db, events.Options{}, func(w *World, cfg *Config) {
			for _, configure := range []Configure{Rooted, Rebuilding, Scrubbing, Following} {
				configure(w, cfg)
			}
			cfg.Prover = Prover(t, db, w.Log, w.Followers, 0) // part: proofs
			cfg.Eraser = projections.NewEraser(w.Knowledge, w.Log, databasetest.Log(t))
			cfg.Protections = func(context.Context) ([]domain.Protection, error) { return nil, nil }
		})
		w.Heard = heard
		w.Spec = nil                   // the same few answers, hundreds of times: others hold them against the description
		heard.from = len(heard.Sent()) // what is read when a server opens is of no tenant
		test(t, w, w.people())
		heard.check(t)
	})
}

// people are every kind of caller, in the tenant default.
func (w *World) people() map[string]Caller {
	w.T.Helper()
	const acting Header = "Annals-On-Behalf-Of: user:una"
	root := Bearer(w.Given(RootKey, Object{
		"subject": "user:rita", "role": "root", "memberships": []string{Group}, "acts_for": true,
	}))
	all := map[string]Caller{
		"root":            {Self: "user:default", Headers: []Header{Bearer(RootKey)}, Silent: []Header{Bearer(RootKey)}},
		"root for a user": {Self: "user:una", Headers: []Header{root, acting}, Silent: []Header{root, acting}},
	}
	for role, self := range map[string]string{
		"member": "user:mia", "service": "agent:worker", "auditor": "user:otto", "admin": "user:olga",
	} {
		key := func(public bool) Header {
			return Bearer(w.Given(RootKey, Object{
				"subject": self, "role": role, "memberships": []string{Group}, "publish_public": public, "acts_for": true,
			}))
		}
		with, without := key(true), key(false)
		all[role] = Caller{self, []Header{with}, []Header{without}}
		all[role+" for a user"] = Caller{"user:una", []Header{with, acting}, []Header{without, acting}}
	}
	return all
}

// Neighbour makes the tenant other, and gives the key of one who has a role there.
func (w *World) Neighbour(subject, role string) Header {
	w.T.Helper()
	w.Ask("POST", "/v1/tenants", Object{"name": "other"}, Bearer(RootKey))
	made := w.Ask("POST", "/v1/keys", Object{"subject": subject, "role": role}, Bearer(RootKey), "Annals-Tenant: other")
	return Bearer(made.Want(201).JSON()["key"].(string))
}
