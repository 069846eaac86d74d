package serve

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/operate"
	httpserve "github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/standby"
)

// reads is the service of a standby in the process of the primary's server, which lets it answer what only reads.
type reads struct {
	primary *core
	now     atomic.Pointer[standbyService]
}

// standbyService is nil, with the reason, while there is none.
type standbyService struct {
	*Service
	*replica
	why error
}

// service is that of the standby, or why the primary answers instead.
func (r *reads) service() (*standbyService, error) {
	s := r.now.Load()
	if s.Service == nil {
		return nil, s.why
	}
	return s, s.trouble()
}

// check fails while the primary answers instead.
func (r *reads) check(context.Context) error {
	_, err := r.service()
	return err
}

// openReads opens the standby for reads. While it cannot be reached, is too far behind, or was promoted, the primary
// answers.
func openReads(ctx context.Context, c *core) (part, error) {
	if c.cfg.ReadDatabase == "" || c.db.Standby() {
		return part{}, nil
	}
	r := &reads{primary: c}
	err := r.open(ctx)
	_, early := errors.AsType[*terminal.Failure](err) // it has not replayed what this server has made
	if err != nil && !early && !errors.Is(err, database.ErrUnavailable) {
		return part{}, err
	}
	c.registry.MustRegister(prometheus.NewGaugeFunc(lag, func() float64 {
		if s := r.now.Load(); s.Service != nil {
			return s.state.Load().Lag.Seconds()
		}
		return 0
	}))
	return part{
		run:    []func(context.Context){r.run},
		writer: func(w httpserve.Writer) httpserve.Writer { return replayed{w, r} },
		api:    func(api *annalshttp.Config) { api.Elsewhere = r.elsewhere },
		probes: []operate.Probe{{Name: "reads", Beside: true, Check: r.check}},
	}, nil
}

// open opens a service of the standby. Its error matches [database.ErrUnavailable] if it may work later.
func (r *reads) open(ctx context.Context) error {
	opened, err := r.openService(ctx)
	if err != nil {
		err = fmt.Errorf("DATABASE_READ_URL: %w", err)
		opened = &standbyService{why: err}
	}
	r.now.Store(opened)
	return err
}

func (r *reads) openService(ctx context.Context) (*standbyService, error) {
	cfg := r.primary.cfg
	cfg.Database, cfg.ReadDatabase, cfg.NoMigrate = cfg.ReadDatabase, "", true
	db, err := OpenDatabase(ctx, cfg, r.primary.logger)
	if err != nil {
		return nil, err
	}
	switch one, other := db.ID(), r.primary.db.ID(); {
	case one != other && one != "" && other != "":
		err = errors.New("it is another database than that of DATABASE_URL: name a standby of the same")
		return nil, errors.Join(err, db.Close())
	case !db.Standby():
		return nil, errors.Join(fmt.Errorf("it is no standby: %w", database.ErrUnavailable), db.Close())
	}
	s, err := openService(ctx, &core{
		cfg: cfg, primary: r.primary, embedder: r.primary.embedder, previous: r.primary.previous, db: db,
		logger: r.primary.logger,
	})
	if err != nil {
		return nil, err
	}
	return &standbyService{Service: s, replica: offered[*replica](s.core)}, nil
}

// run works for the standby's service, and opens it again after it was promoted, until ctx ends.
func (r *reads) run(ctx context.Context) {
	for {
		if s := r.now.Load(); s.Service != nil {
			r.use(ctx, s)
		}
		select {
		case <-time.After(time.Second):
		case <-ctx.Done():
			return
		}
		_ = r.open(ctx) // the reason is kept
	}
}

// use works for a service until ctx ends, or the standby is promoted. Requests that it answers then have the usual time
// to finish.
func (r *reads) use(ctx context.Context, s *standbyService) {
	working, end := context.WithCancel(ctx)
	defer context.AfterFunc(s.Service.core.role, func() {
		defer end()
		r.now.Store(&standbyService{why: errors.New("DATABASE_READ_URL: it was promoted")})
		select {
		case <-time.After(r.primary.cfg.ShutdownTimeout):
		case <-ctx.Done():
		}
	})()
	if err := errors.Join(s.Work(working), s.Close()); err != nil {
		r.primary.logger.WarnContext(ctx, "the server of the standby did not end well", "error", err)
	}
}

// elsewhere lets the standby answer what searches and reads items.
func (r *reads) elsewhere(request *http.Request) (http.Handler, error) {
	if !standby.ReadsItems(request) {
		return nil, nil
	}
	s, err := r.service()
	if err != nil { // the primary answers
		return nil, nil //nolint:nilerr // its check tells
	}
	return s.API.Handler(), nil
}

// replayed answers writes when the standby has them, unless it is slow: the next question may go there.
type replayed struct {
	httpserve.Writer

	reads *reads
}

// Submit implements [httpserve.Writer].
func (w replayed) Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error) {
	done, err := w.Writer.Submit(ctx, submission)
	w.reads.await(ctx, submission.By.Tenant, done.Position)
	return done, err
}

// SubmitAll implements [httpserve.Writer].
func (w replayed) SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result {
	done, newest := w.Writer.SubmitAll(ctx, submissions), int64(0)
	for _, one := range done {
		newest = max(newest, one.Receipt.Position)
	}
	if len(submissions) > 0 {
		w.reads.await(ctx, submissions[0].By.Tenant, newest)
	}
	return done
}

// await waits until the standby has a position, for a second at most.
func (r *reads) await(ctx context.Context, tenant string, position int64) {
	s, err := r.service()
	if position == 0 || err != nil {
		return
	}
	const most = time.Second
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	_, _ = s.Service.core.log.Watchers.AwaitHead(ctx, tenant, position) // or the next question waits
}
