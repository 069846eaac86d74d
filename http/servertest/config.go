package servertest

import (
	"context"
	"testing"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/operate"
	roomofpeople "github.com/annals-kb/annals/http/people"
	"github.com/annals-kb/annals/http/record"
	"github.com/annals-kb/annals/http/reports"
	"github.com/annals-kb/annals/http/scrubbing"
	roomofsessions "github.com/annals-kb/annals/http/sessions"
	roomofsubscriptions "github.com/annals-kb/annals/http/subscriptions"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/extraction"
	"github.com/annals-kb/annals/projections/people"
	"github.com/annals-kb/annals/projections/policies"
	"github.com/annals-kb/annals/projections/sessions"
)

// Config configures a server with all rooms of the API. Those refuse calls for which a field is nil.
type Config struct {
	annalshttp.Config

	Events        record.Finder
	Reporter      reports.Reporter
	Rebuilder     operate.Rebuilder
	Background    operate.Background
	Eraser        operate.Eraser
	Prover        record.Prover
	Protections   func(context.Context) ([]domain.Protection, error)
	Sessions      roomofsessions.Sessions
	Scrubbing     scrubbing.Scrubbing
	Recorded      scrubbing.Recorded
	Verification  operate.Policies
	Subscriptions Subscriptions
	Probes        []operate.Probe
	Warnings      func() string
	Settings      api.Settings
	Models        []operate.Model
	PurgeAfter    time.Duration
}

// Subscriptions delivers events to subscribers, and sums them up.
type Subscriptions interface {
	roomofsubscriptions.Subscriptions
	reports.Digests
}

// Config serves them in no-auth mode. Each request sees one tenant, if the database has roles for that.
func (b Base) Config(t *testing.T) Config {
	verifications := policies.NewVerifications(b.Log.Reader)
	b.Knowledge.Verified = verifications
	cfg := Config{
		Config: annalshttp.Config{
			Policies: verifications, Writer: b.Log, Historian: b.Log, Finder: b.Log.Finder, Reader: b.Reader(),
			Lesson:  roomofsessions.Lessons{Sessions: sessions.Sessions{Log: b.Log}, Personal: extraction.Personal}.For,
			Version: "test", Logger: databasetest.Log(t), Confine: database.ForTenant,
		},
		Verification: verifications, Events: b.Log.Finder, Sessions: sessions.Sessions{Log: b.Log},
		Reporter: browse.Reports{Browser: b.Knowledge.Browser, Log: b.Log.Log},
	}
	cfg.Callers.Directory = people.Directory{Log: b.Log.Reader}
	return cfg
}

// New makes a server of a valid configuration.
func (c Config) New() *annalshttp.Server {
	feeds := new(record.Feeds)
	c.Rooms = append([]annalshttp.Room{
		record.Record{Finder: c.Events, Feeds: feeds, Prover: c.Prover, Protections: c.Protections},
		operate.Erasures{Eraser: c.Eraser, PurgeAfter: c.PurgeAfter},
		roomofpeople.Room{Directory: c.Callers.Directory, Keys: c.Callers.Keys, Items: c.Reader},
		operate.PolicyRoom{Policies: c.Verification},
		roomofsubscriptions.Room{Subscriptions: c.Subscriptions, Feeds: feeds},
		roomofsessions.Room{Sessions: c.Sessions},
		reports.Room{Reporter: c.Reporter, Digests: c.Subscriptions, Reader: c.Reader, Names: c.Callers.Directory},
		scrubbing.Room{Rules: c.Scrubbing, Recorded: c.Recorded, Items: c.Reader},
		operate.Projections{
			Rebuilder: c.Rebuilder, Background: c.Background, Inline: c.Reader, Proof: c.Prover, Log: c.Events,
		},
		operate.Health{Probes: c.Probes}, operate.Debug{Warnings: c.Warnings},
		operate.Settings{Shown: c.Settings, Models: c.Models, Sessions: c.Sessions},
	}, c.Rooms...)
	return annalshttp.New(c.Config)
}
