package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/events/signing"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/record"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/embedding"
)

// Service is a running Annals server: the log, its projections and the API.
type Service struct {
	API *annalshttp.Server

	core   *core
	leeway leeway
}

// OpenService opens the database, and all parts in their order. The caller closes the service.
func OpenService(
	ctx context.Context, cfg Config, embedder, previous embedding.Embedder, logger *slog.Logger,
) (*Service, error) {
	if _, err := signing.OpenKey(cfg.Data); err != nil && !errors.Is(err, signing.ErrNoKey) {
		return nil, err
	}
	db, err := OpenDatabase(ctx, cfg, logger)
	if err != nil {
		return nil, err
	}
	return openService(ctx, &core{cfg: cfg, embedder: embedder, previous: previous, db: db, logger: logger})
}

// openService opens the parts of a core with settings and a database.
func openService(ctx context.Context, c *core) (*Service, error) {
	c.feeds, c.registry = new(record.Feeds), prometheus.NewRegistry()
	c.role, c.giveWay = context.WithCancel(context.Background())
	s := &Service{core: c, leeway: newLeeway()}
	err := c.open(ctx)
	if err == nil {
		api := c.surface()
		if err = api.Validate(); err == nil {
			c.api = annalshttp.New(api)
			s.API = c.api
			return s, nil
		}
	}
	if c.db.Standby() && errors.Is(err, database.ErrReadOnly) {
		err = &terminal.Failure{
			Code: terminal.ExitFailed, Detail: "the standby lacks tables that this annals needs", Fix: primaryFirst,
		}
	}
	return nil, errors.Join(err, s.Close())
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
	if !cfg.NoMigrate && !db.Standby() {
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
	log := events.NewLog(db, knowledge.Projection, events.Options{
		Policy: knowledge.Policy(), Selection: knowledge.Browser, Logger: logger,
	})
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
	if err != nil || have == want {
		return err
	}
	migrate := "run annals migrate, or leave out --no-migrate"
	if db.Standby() {
		migrate = primaryFirst
	}
	return SchemaFailure(have, want, migrate)
}

// primaryFirst is the fix for a standby that lacks what a primary creates.
const primaryFirst = "start annals of this release on the primary first; a standby gets its tables from there"

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

// serve answers requests until ctx ends or the service gives way, and then finishes accepted ones. It closes the
// listener.
func (s *Service) serve(ctx context.Context, listener net.Listener) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	stopped := context.AfterFunc(s.core.role, end)
	defer stopped()
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
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.core.registry, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(beside) }()
	s.core.logger.InfoContext(ctx, "serving metrics", "address", beside.Addr().String())
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
	var err error
	for _, p := range s.core.parts {
		if p.close != nil {
			err = errors.Join(err, p.close())
		}
	}
	if s.core.log != nil {
		err = errors.Join(err, s.core.log.Close(ctx))
	}
	for _, p := range s.core.parts {
		if p.finish != nil && !s.core.db.Standby() {
			p.finish(ctx)
		}
	}
	s.core.giveWay()
	return errors.Join(err, s.core.db.Close())
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
