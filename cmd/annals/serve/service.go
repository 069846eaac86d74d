package serve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/annals-kb/annals/cmd/annals/telemetry"
	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/events/forward"
	"github.com/annals-kb/annals/events/proof"
	annalshttp "github.com/annals-kb/annals/http"
	annalsclient "github.com/annals-kb/annals/http/client"
	"github.com/annals-kb/annals/http/document"
	"github.com/annals-kb/annals/http/egress"
	httpkeys "github.com/annals-kb/annals/http/keys"
	"github.com/annals-kb/annals/http/mcp"
	"github.com/annals-kb/annals/http/oidc"
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/http/scim"
	httpserve "github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/viking"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/browse"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/erasure"
	"github.com/annals-kb/annals/projections/extraction"
	"github.com/annals-kb/annals/projections/keys"
	"github.com/annals-kb/annals/projections/past"
	"github.com/annals-kb/annals/projections/people"
	"github.com/annals-kb/annals/projections/policies"
	"github.com/annals-kb/annals/projections/quotas"
	"github.com/annals-kb/annals/projections/rebuild"
	"github.com/annals-kb/annals/projections/review"
	"github.com/annals-kb/annals/projections/sessions"
	"github.com/annals-kb/annals/projections/subscriptions"
)

// Service is a running Annals server: the log, its projections and the API.
type Service struct {
	db        *database.DB
	log       *follow.Log
	knowledge *projections.Knowledge
	past      *past.Projection
	rebuilder *rebuild.Rebuilder
	quotas    *quotas.Keeper // nil for none
	prover    *proof.Prover
	forwarder *forward.NATS // nil for none
	worker    *extraction.Worker
	summaries *extraction.Summaries // nil without a model
	proposer  review.Proposer

	subscriptions *subscriptions.Subscriptions

	directories *extraction.Directories // nil without a model
	accesses    *events.Accesses
	keys        *keys.Keys
	eraser      *erasure.Eraser
	health      *browse.HealthGauges
	issuer      *oidc.Issuer // nil if no tokens are accepted

	registry   *prometheus.Registry
	purgeAfter time.Duration
	backups    *backups // nil for none
	first      firstAdmin
	API        *annalshttp.Server
	telemetry  *telemetry.Telemetry // nil for none
	logger     *slog.Logger
	leeway     leeway
}

// OpenService opens the database and wires all components. The caller closes the service.
func OpenService(
	ctx context.Context, cfg Config, embedder, previous embedding.Embedder, logger *slog.Logger,
) (*Service, error) {
	if _, err := proof.OpenKey(cfg.Data); err != nil && !errors.Is(err, proof.ErrNoKey) {
		return nil, err
	}
	db, err := OpenDatabase(ctx, cfg, logger)
	if err != nil {
		return nil, err
	}
	key, err := cfg.signingKey()
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	knowledge, err := projections.Open(ctx, db,
		projections.Settings{Embedder: embedder, Previous: previous, Logger: logger})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open the projections: %w", err), db.Close())
	}
	policy := knowledge.Policy()
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	limits, err := quotas.Parse(cfg.Quotas)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	var admission events.Admission
	var keeper *quotas.Keeper
	if len(limits) > 0 {
		keeper = quotas.New(db, limits, knowledge.Projection.ActiveIn, registry, logger)
		admission = keeper
	}
	log := follow.NewLog(db, knowledge, events.Options{
		Policy: policy, Logger: logger, Registerer: registry, Span: cfg.telemetry.Seam(),
		Admission: admission,
	})
	rebuilder := rebuild.New(knowledge.Versions, knowledge.Models, log)
	registry.MustRegister(projections.NewGauges(log, rebuilder))
	prover := proof.NewProver(db, log, key, proof.Options{Logger: logger, Known: proof.PublicKeys(cfg.Data)})
	past, err := projections.OpenPast(ctx, knowledge, log)
	if err != nil {
		return nil, errors.Join(err, log.Close(ctx), db.Close())
	}
	s := &Service{
		db: db, log: log, knowledge: knowledge, past: past, rebuilder: rebuilder, prover: prover, logger: logger,
		keys: keys.NewKeys(db, log.Log), eraser: projections.NewEraser(knowledge, log.Log,
			logger), purgeAfter: cfg.PurgeAfter, quotas: keeper, leeway: newLeeway(), registry: registry, telemetry: cfg.telemetry,
	}
	if s.forwarder, err = cfg.forwarder(log, logger); err == nil {
		s.backups, err = cfg.backups(s)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.accesses = events.NewAccesses(log.Log, events.AccessOptions{
		Retrievals: cfg.RecordRetrievals, Keep: cfg.KeepAccesses, Registerer: registry, Logger: logger,
	})
	entrance := events.NewScrubbingWriter(log.Log, cfg.Scrub == "on")
	extractor, err := cfg.extractor()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.worker, s.summaries = s.extractor(entrance, extractor), s.summarizing(entrance, extractor)
	s.directories = s.browsing(entrance, extractor)
	reports := browse.Reports{Browser: knowledge.Browser, Log: log.Log}
	reader := present{
		projections.Reader{Knowledge: knowledge, Past: past, Log: log}, s.forwarder, s.worker, s.summaries, s.telemetry,
	}
	verifications := policies.NewVerifications(log.Reader)
	knowledge.Verified, knowledge.Span = verifications, cfg.telemetry.Seam()
	s.health = browse.NewHealthGauges(reports)
	registry.MustRegister(s.health)
	s.proposer = review.Proposer{
		Off: cfg.Review == "off", Log: log, Reader: reader, Proposals: reports, Writer: entrance, Logger: logger,
	}
	if model, is := extractor.(review.Judge); is {
		s.proposer.Judge = model
	}
	s.subscriptions = subscriptions.New(subscriptions.Options{
		DB: db, Log: log, Writer: entrance, Items: reader, Logger: logger,
		Client: egress.Client(cfg.FetchPrivate, 15*time.Second), Refused: egress.ErrPrivate,
		Check: func(address string) string { return egress.CheckURL(address, cfg.FetchPrivate) },
		Show:  func(e domain.Event) any { return httpserve.EventOf(e) },
	})
	registry.MustRegister(subscriptions.Gauges{Subscriptions: s.subscriptions})
	api := annalshttp.Config{
		Subscriptions: s.subscriptions,
		Reporter:      reports, Recorder: s.accesses, Sessions: sessions.Sessions{Log: log}, Personal: extraction.Personal,
		Writer: entrance, Scrubbing: entrance, Recorded: entrance, Reader: reader, Historian: log, Finder: log.Finder,
		Policy: knowledge.Policy, Rebuilder: rebuild.Rebuilds{Rebuilder: rebuilder}, Prover: prover,
		Protections: ProtectionsOf(db), Keys: s.keys, RootKey: cfg.RootKey, Eraser: s.eraser, Confine: database.ForTenant,
		Directory: people.Directory{Log: log.Reader}, Verification: verifications,
		Probes: []operate.Probe{
			{Name: "database", Check: s.db.Answers},
			{Name: "schema", Check: knowledge.Complete},
			{Name: "writes", Check: func(ctx context.Context) error { return cmp.Or(s.db.Writable(ctx), s.log.Prompt()) }},
		},
		Logger: logger, Registry: registry, Version: terminal.Version().Version,
		Background: projections.Background{Log: log, Past: past},
		Rate:       cfg.Rate, PreStopDelay: cfg.PreStopDelay, ShutdownTimeout: cfg.ShutdownTimeout,
		PurgeAfter: cfg.PurgeAfter, Settings: cfg.Shown, Warnings: cfg.warned.text,
		Models: models(embedder, previous, extractor, cfg.Why),
	}
	if s.telemetry != nil {
		if err := s.telemetry.Collect(ctx, registry); err != nil {
			return nil, errors.Join(err, s.Close())
		}
		api.Writer, api.Trace = s.telemetry.Writer(entrance), s.telemetry.Trace
		s.telemetry.Models(embedder, previous, extractor)
	}
	inner, err := insideClient(func(w http.ResponseWriter, r *http.Request) { s.API.Handler().ServeHTTP(w, r) })
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	apart, err := document.NewApart()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	api.Mounts = []annalshttp.Mount{
		mountViking(viking.Config{
			PDF:    apart.PDF,
			Writer: api.Writer, Reader: reader, Directories: s.outlines(), Files: events.NewFiles(log.Log),
			Sessions: sessions.Sessions{Log: log}, Recorder: s.accesses,
			Keys: s.keys, NewKey: httpkeys.NewKey,
			Members: people.Directory{Log: log.Reader}.Members,
			Eraser:  s.eraser, Closed: cfg.RootKey != "" || cfg.Issuer != "",
			FetchPrivate: cfg.FetchPrivate, HostPaths: cfg.hostPaths(), Version: api.Version,
			Probes: []viking.Probe{
				{Name: "database", Check: s.db.Answers},
				{Name: "schema", Check: knowledge.Complete},
				{Name: "writes", Check: s.db.Writable},
			},
		}), mountSCIM(scim.Server{
			Writer: entrance, Directory: people.Directory{Log: log.Reader}, Keys: s.keys, PublicURL: cfg.PublicURL,
		}),
	}
	api.Mounts = append(api.Mounts, mountMCP(inner, cfg, logger)...)
	issuer, err := cfg.issuer()
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.believe(issuer, &api)
	api.PublicURL = cfg.PublicURL
	if cfg.Console == "on" {
		if err := s.addConsole(&api, inner, key, cfg.tokens); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	if err := api.Validate(); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	s.subscriptions.Rights = annalshttp.RightsOf(api)
	s.API = annalshttp.New(api)
	return s, nil
}

// OpenDatabase opens the database and migrates or checks its schema.
func OpenDatabase(ctx context.Context, cfg Config, logger *slog.Logger) (*database.DB, error) {
	if cfg.NoMigrate && isAbsentFile(cfg.Database) {
		return nil, NoDatabase(cfg.Database, "run annals migrate, or leave out --no-migrate")
	}
	if err := cfg.CreateDirectory(); err != nil {
		return nil, err
	}
	db, err := database.Open(ctx, cfg.Database, logger)
	if err != nil {
		return nil, err
	}
	if !cfg.NoMigrate {
		err = database.Migrate(ctx, db)
	} else {
		err = CheckSchema(ctx, db)
	}
	if err == nil {
		err = database.CheckComplete(ctx, db)
	}
	if err == nil {
		err = CheckTriggers(ctx, db)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// OpenLog opens the database with its log and projections, for a command that writes without a server. The caller
// closes the log, then the database.
func OpenLog(ctx context.Context, cfg Config, logger *slog.Logger) (
	*database.DB, *events.Log, *projections.Knowledge, error,
) {
	db, err := OpenDatabase(ctx, cfg, logger)
	if err != nil {
		return nil, nil, nil, err
	}
	knowledge, err := projections.Open(ctx, db, projections.Settings{Logger: logger})
	if err != nil {
		return nil, nil, nil, errors.Join(err, db.Close())
	}
	log := events.NewLog(db, knowledge, events.Options{Policy: knowledge.Policy(), Logger: logger})
	return db, log, knowledge, nil
}

// CheckTriggers refuses a database with triggers of another role, whose code would run with the rights of this one.
func CheckTriggers(ctx context.Context, db *database.DB) error {
	release, err := database.LockWriterTables(ctx, db)
	if err == nil {
		release()
	}
	return err
}

// CheckSchema refuses a schema of another version of the program.
func CheckSchema(ctx context.Context, db *database.DB) error {
	have, want, err := database.Schema(ctx, db)
	if err == nil && have != want {
		return SchemaFailure(have, want, "run annals migrate, or leave out --no-migrate")
	}
	return err
}

// SchemaFailure refuses a schema, and tells how to migrate an older one.
func SchemaFailure(have, want uint, migrate string) error {
	f := &terminal.Failure{
		Code:   terminal.ExitFailed,
		Detail: fmt.Sprintf("the database has schema %d, this annals needs %d", have, want), Fix: migrate,
	}
	if have > want {
		f.Fix = "use a newer annals"
	}
	return f
}

// serve answers requests until ctx ends, and then finishes accepted ones. It closes the listener.
func (s *Service) serve(ctx context.Context, listener net.Listener) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	ended := make(chan error, 1)
	go func() { ended <- s.Work(working) }()
	err := s.API.Serve(ctx, listener)
	stop()
	return errors.Join(err, <-ended)
}

// serveBeside serves, and serves all metrics at an address of their own, unless it is empty.
func (s *Service) serveBeside(ctx context.Context, listener net.Listener, metrics string) error {
	if metrics == "" {
		return s.serve(ctx, listener)
	}
	beside, err := listen(ctx, metrics)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(beside) }()
	s.logger.InfoContext(ctx, "serving metrics", "address", beside.Addr().String())
	err = errors.Join(s.serve(ctx, listener), server.Close())
	if failed := <-ended; !errors.Is(failed, http.ErrServerClosed) {
		err = errors.Join(err, failed)
	}
	return err
}

// finishing is how long accepted writes may take to be committed after the API has closed.
const finishing = 30 * time.Second

// Close interrupts a rebuild, which continues at the next start. Then it finishes accepted writes and closes the log,
// which signs its newest events, and the database.
func (s *Service) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), finishing)
	defer cancel()
	if s.telemetry != nil {
		s.telemetry.Close() // its metrics ask the database
	}
	s.rebuilder.Close()
	err := errors.Join(s.stopForwarding(), s.log.Close(ctx))
	s.prover.Finish(ctx)
	return errors.Join(err, s.db.Close())
}

// ProtectionsOf tells what protects the log in a database.
func ProtectionsOf(db *database.DB) func(context.Context) ([]domain.Protection, error) {
	return func(ctx context.Context) ([]domain.Protection, error) {
		found, err := database.Protections(ctx, db)
		walls := make([]domain.Protection, len(found))
		for i, wall := range found {
			walls[i] = domain.Protection(wall)
		}
		return walls, err
	}
}

// leeway is memory that is reserved and never touched, so that it occupies none. The garbage collector runs when the
// heap has doubled. A small heap under load would double many times a second, and the collector would take an eighth
// of the processor's time.
type leeway []byte

const usualLeeway = 128 << 20

// newLeeway reserves the memory, unless the operator configures the collector.
func newLeeway() leeway {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return nil
	}
	return make(leeway, usualLeeway)
}

// mountViking mounts the OpenViking API at its usual paths.
func mountViking(cfg viking.Config) annalshttp.Mount {
	surface := viking.New(cfg)
	paths, public := viking.Paths()
	return annalshttp.Mount{
		Paths: paths, Public: public, Handler: surface.Answer, Refuse: surface.Refuse, As: viking.As, MaxBody: viking.MaxBody,
	}
}

// mountSCIM mounts what identity providers keep the directory with.
func mountSCIM(surface scim.Server) annalshttp.Mount {
	return annalshttp.Mount{
		Paths: []string{scim.Path}, Handler: surface.Answer, Refuse: surface.Refuse, MaxBody: scim.MaxBody,
	}
}

// mountMCP mounts the MCP server.
func mountMCP(inner *annalsclient.Client, cfg Config, logger *slog.Logger) []annalshttp.Mount {
	hosts := mcp.New(mcp.Config{
		API: inner, Tools: cfg.MCPTools, PublicURL: cfg.PublicURL, Version: terminal.Version().Version, Logger: logger,
	}).Handler()
	return mcp.Mounts(hosts, mcp.OAuth{Issuer: cfg.Issuer, PublicURL: cfg.PublicURL})
}
