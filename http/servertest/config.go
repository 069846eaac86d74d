package servertest

import (
	"context"
	"log/slog"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/api"
	roomofcontainments "github.com/annals-kb/annals/http/contain" // part: contain
	httpkeys "github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/operate"
	roomofpeople "github.com/annals-kb/annals/http/people"
	"github.com/annals-kb/annals/http/proofs"                  // part: proofs
	roomofreceipts "github.com/annals-kb/annals/http/receipts" // part: receipts
	"github.com/annals-kb/annals/http/record"
	"github.com/annals-kb/annals/http/reports"
	"github.com/annals-kb/annals/http/scrubbing"
	roomofsessions "github.com/annals-kb/annals/http/sessions"
	roomofsubscriptions "github.com/annals-kb/annals/http/subscriptions" // part: webhooks
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/contain"    // part: contain
	"github.com/annals-kb/annals/projections/extraction" // part: extraction
	"github.com/annals-kb/annals/projections/people"
	"github.com/annals-kb/annals/projections/policies" // part: policies
	"github.com/annals-kb/annals/projections/sessions"
)

// Config configures a server with all rooms of the API. Those refuse calls for which a field is nil.
type Config struct {
	annalshttp.Config

	Events        record.Finder
	Reporter      reports.Reporter
	Rebuilder     operate.Rebuilder
	Background    operate.Background
	Followers     *follow.Followers
	Eraser        operate.Eraser
	Prover        proofs.Prover // part: proofs
	Protections   func(context.Context) ([]domain.Protection, error)
	Sessions      roomofsessions.Sessions
	Scrubbing     scrubbing.Scrubbing
	Recorded      scrubbing.Recorded
	Verification  operate.Policies                // part: policies
	Containments  roomofcontainments.Containments // part: contain
	Subscriptions Subscriptions                   // part: webhooks
	Receipts      roomofreceipts.Receipts         // part: receipts
	Evidence      roomofreceipts.Prover           // part: receipts
	Probes        []operate.Probe
	Warnings      func() string
	Settings      api.Settings
	Models        []operate.Model
	PurgeAfter    time.Duration
}

// Subscriptions delivers events to subscribers, and sums them up.
type Subscriptions interface { // part: webhooks
	roomofsubscriptions.Subscriptions // part: webhooks
	reports.Digests                   // part: webhooks
} // part: webhooks

// warnings are written to the test's output, without a line for each request.
func warnings(t *testing.T) *slog.Logger {
	return slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
}

// Config serves them in no-auth mode. Each request sees one tenant, if the database has roles for that.
func (b Base) Config(t *testing.T) Config {
	known := sessions.Sessions{Log: b.Log, Followers: b.Followers}
	cfg := Config{
		Config: annalshttp.Config{
			Writer: b.Log, Historian: b.Log.Reader, Watcher: b.Log.Watchers, Finder: b.Log.Finder, Reader: b.Reader(),
			Browser: b.Knowledge.Browser, Searcher: b.Knowledge.Searcher,
			Version: "test", Logger: warnings(t), Confine: database.ForTenant,
		},
		Followers: b.Followers, Events: b.Log.Finder, Sessions: known,
		Reporter: browse.Reports{Browser: b.Knowledge.Browser, Log: b.Log},
	}
	cfg.Callers.Directory = people.Directory{Log: b.Log.Reader}
	cfg.Lesson = roomofsessions.Lessons{Sessions: known, Personal: extraction.Personal}.For // part: extraction
	verifications := policies.NewVerifications(b.Log.Reader)                                // part: policies
	cfg.Containments = &contain.Containments{View: b.Knowledge.View, Log: b.Log}            // part: contain
	cfg.Policies, cfg.Verification = verifications, verifications                           // part: policies
	b.Knowledge.Searcher.Verified = verifications                                           // part: policies
	return cfg
}

// New makes a server of a valid configuration.
func (c Config) New() *annalshttp.Server {
	feeds := new(record.Feeds)
	c.Rooms = append([]annalshttp.Room{
		record.Record{Finder: c.Events, Feeds: feeds, Protections: c.Protections},
		proofs.Room{Prover: c.Prover, Finder: c.Events}, // part: proofs
		operate.Erasures{Eraser: c.Eraser, PurgeAfter: c.PurgeAfter},
		roomofpeople.Room{Directory: c.Callers.Directory, Keys: c.Callers.Keys, Items: c.Browser},
		operate.PolicyRoom{Policies: c.Verification},                           // part: policies
		roomofcontainments.Room{Containments: c.Containments},                  // part: contain
		roomofsubscriptions.Room{Subscriptions: c.Subscriptions, Feeds: feeds}, // part: webhooks
		roomofreceipts.Room{ // part: receipts
			Receipts: c.Receipts, Reader: c.Reader, Searcher: c.Searcher, Browser: c.Browser, // part: receipts
			Rights: c.rights, Prover: c.Evidence, // part: receipts
		}, // part: receipts
		roomofsessions.Room{Sessions: c.Sessions},
		reports.Room{
			Reporter: c.Reporter, Reader: c.Reader, Items: c.Browser, Names: c.Callers.Directory,
			Digests: c.Subscriptions, // part: webhooks
			Prover:  c.Prover,        // part: proofs
		},
		scrubbing.Room{Rules: c.Scrubbing, Recorded: c.Recorded, Items: c.Browser},
		operate.Projections{
			Rebuilder: c.Rebuilder, Background: c.Background, Inline: c.Reader,
			Proof: c.Prover, // part: proofs
		},
		operate.Health{Probes: c.Probes},
		operate.Debug{Warnings: c.Warnings},
		operate.Settings{Shown: c.Settings, Models: c.Models, Sessions: c.Sessions},
	}, c.Rooms...)
	return annalshttp.New(c.Config)
}

// rights are the rights that a caller has now.
func (c Config) rights(ctx context.Context, tenant string, of domain.Subscription) (domain.Principal, error) {
	callers := c.Callers
	callers.Now = time.Now
	return httpkeys.New(callers).RightsOf(ctx, tenant, of)
}
