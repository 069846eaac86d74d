package serve

import (
	"cmp"
	"context"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/events"
	annalshttp "github.com/annals-kb/annals/http"
	httpkeys "github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/operate"
	httppeople "github.com/annals-kb/annals/http/people"
	"github.com/annals-kb/annals/http/proofs" // part: proofs
	"github.com/annals-kb/annals/http/record"
	"github.com/annals-kb/annals/http/reports"
	"github.com/annals-kb/annals/http/scrubbing"
	httpsessions "github.com/annals-kb/annals/http/sessions"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/people"
	"github.com/annals-kb/annals/projections/sessions"
)

// surface configures the API: the rooms of the core, and what the parts hand over.
func (c *core) surface() annalshttp.Config {
	directory, known := people.Directory{Log: c.log.Reader}, sessions.Sessions{Log: c.log, Followers: c.followers}
	health := operate.Health{Replica: offered[operate.Replica](c), Probes: []operate.Probe{
		{Name: "database", Check: c.db.Answers},
		{Name: "schema", Check: c.knowledge.Complete},
	}}
	if !c.db.Standby() {
		health.Probes = append(health.Probes, operate.Probe{Name: "writes", Check: func(ctx context.Context) error {
			return cmp.Or(c.db.Writable(ctx), c.log.Prompt())
		}})
	}
	settings := operate.Settings{Shown: c.cfg.Shown, Models: embedders(c.embedder, c.previous, c.cfg.Why), Sessions: known}
	api := annalshttp.Config{
		Writer: c.writer, Browser: c.knowledge.Browser, Searcher: c.knowledge.Searcher, Reader: present{c},
		Historian: c.log.Reader, Watcher: c.log.Watchers, Finder: c.log.Finder, Policy: c.knowledge.Policy,
		Callers: httpkeys.Config{Keys: c.keys, RootKey: c.cfg.RootKey, Directory: directory}, Confine: database.ForTenant,
		Outdated:  func(ctx context.Context) error { return events.Unavailable(c.db.Outdated(ctx)) },
		PublicURL: c.cfg.PublicURL, Logger: c.logger, Registry: c.registry, Version: terminal.Version().Version,
		Rate: c.cfg.Rate, PreStopDelay: c.cfg.PreStopDelay, ShutdownTimeout: c.cfg.ShutdownTimeout,
		Rooms: []annalshttp.Room{
			record.Record{Finder: c.log.Finder, Feeds: c.feeds, Protections: ProtectionsOf(c.db)},
			httppeople.Room{Directory: directory, Keys: c.keys, Items: c.knowledge.Browser},
			httpsessions.Room{Sessions: known},
			reports.Room{
				Reporter: c.reports(), Digests: offered[reports.Digests](c), Reader: present{c},
				Items: c.knowledge.Browser, Names: directory,
				Prover: offered[reports.Prover](c),
			},
			scrubbing.Room{Rules: c.entrance, Recorded: c.entrance, Items: c.knowledge.Browser},
			operate.Projections{
				Rebuilder:  offered[operate.Rebuilder](c),
				Background: projections.Background{Followers: c.followers, Past: c.reader.Past},
				Inline:     present{c},
				Proof:      offered[proofs.Prover](c), // part: proofs
			},
			operate.Debug{Warnings: c.cfg.warned.text},
		},
	}
	for _, p := range c.parts {
		api.Rooms, api.Mounts = append(api.Rooms, p.rooms...), append(api.Mounts, p.mounts...)
		health.Probes, settings.Models = append(health.Probes, p.probes...), append(settings.Models, p.models...)
		if p.api != nil {
			p.api(&api)
		}
	}
	api.Rooms = append(api.Rooms, health, settings)
	return api
}

// reports reports on the quality of knowledge.
func (c *core) reports() browse.Reports {
	return browse.Reports{Browser: c.knowledge.Browser, Log: c.log}
}
