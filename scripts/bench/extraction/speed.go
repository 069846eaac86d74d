package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/extraction"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
	"github.com/annals-kb/annals/viking"
)

// speed is how fast conversations are taken in.
type speed struct {
	Engine    string  `json:"engine"`
	Clients   int     `json:"clients"`
	Messages  int     `json:"messages"`
	Rate      float64 `json:"messages_per_second"`
	AddP50    float64 `json:"add_p50_ms"`
	AddP99    float64 `json:"add_p99_ms"`
	Commits   int     `json:"commits"`
	CommitP50 float64 `json:"commit_p50_ms"`
	CommitP99 float64 `json:"commit_p99_ms"`
}

// server answers over HTTP, while sessions are extracted in the background.
type server struct {
	log    *events.Log
	base   *projections.Knowledge
	worker *extraction.Worker
	url    string
}

// measure opens a fresh database, and measures everything on it.
func measure(ctx context.Context, engine database.Engine, o options, r *report) error {
	return bench.Afresh(ctx, engine, r.Engines, func(db *database.DB) error { return measureOn(ctx, db, o, r) })
}

func measureOn(ctx context.Context, db *database.DB, o options, r *report) (err error) {
	base, err := projections.Open(ctx, db, projections.Settings{})
	if err != nil {
		return err
	}
	log := events.NewLog(db, base, events.Options{})
	defer func() { err = errors.Join(err, log.Close(context.WithoutCancel(ctx))) }()
	s := &server{log: log, base: base, worker: extraction.NewWorker(extraction.Options{
		Log: log, Writer: log, Reader: base, Archivist: projections.Sessions{Log: log}, Extractor: o.extractor, Logger: slog.New(slog.DiscardHandler),
	})}
	if o.locomo != "" {
		found, err := s.cover(ctx, o)
		if err != nil {
			return err
		}
		found.Engine = db.Engine.String()
		r.Coverage = append(r.Coverage, found)
		told, err := s.ask(ctx, o)
		if err != nil {
			return err
		}
		told.Engine = db.Engine.String()
		r.Asked = append(r.Asked, told)
	}
	measured, err := s.hurry(ctx, db, o)
	measured.Engine = db.Engine.String()
	r.Speed = append(r.Speed, measured)
	return err
}

// hurry measures adding and committing through HTTP.
func (s *server) hurry(ctx context.Context, db *database.DB, o options) (m speed, err error) {
	past, err := projections.OpenPast(ctx, s.base, s.log)
	if err != nil {
		return m, err
	}
	surface := viking.New(viking.Config{Writer: events.NewEntrance(s.log, true), Sessions: projections.Sessions{Log: s.log}})
	paths, public := viking.Paths()
	api := annalshttp.New(annalshttp.Config{
		Writer: s.log, Historian: s.log, Reader: projections.Reader{Knowledge: s.base, Past: past, Progress: s.log},
		Reporter: projections.Reports{Knowledge: s.base, Log: s.log}, Keys: projections.NewKeys(db, s.log),
		Logger: slog.New(slog.DiscardHandler),
		Mounts: []annalshttp.Mount{{Paths: paths, Public: public, Handler: surface.Answer, Refuse: surface.Refuse, As: viking.As}},
	})
	web := httptest.NewServer(api.Handler())
	defer web.Close()
	s.url = web.URL
	transport := &http.Transport{MaxIdleConnsPerHost: o.clients}
	defer transport.CloseIdleConnections()
	client := &http.Client{Transport: transport}
	m.Clients, m.Messages, m.Commits = o.clients, o.messages/o.clients*o.clients, o.commits

	began := time.Now()
	adds, err := s.side(o.clients, func(i int) ([]time.Duration, error) {
		return s.add(ctx, client, fmt.Sprintf("fast-%d", i), o.messages/o.clients)
	})
	if err != nil {
		return m, err
	}
	m.Rate = float64(m.Messages) / time.Since(began).Seconds()
	spread := bench.SpreadOf(adds)
	m.AddP50, m.AddP99 = bench.Milliseconds(spread.P50), bench.Milliseconds(spread.P99)

	router, err := events.NewRouter(slog.New(slog.DiscardHandler))
	if err != nil {
		return m, err
	}
	s.worker.Follow(router)
	ended := make(chan error, 1)
	running, stop := context.WithCancel(ctx)
	go func() { ended <- router.Run(running) }()
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	var commits []time.Duration
	for i := range o.commits { // one after the other: how long one waits, not how many at once
		name := fmt.Sprintf("committed-%d", i%50)
		if _, err := s.add(ctx, client, name, 2); err != nil {
			return m, err
		}
		took, err := s.post(ctx, client, "/api/v1/sessions/"+name+"/commit", `{}`)
		if err != nil {
			return m, err
		}
		commits = append(commits, took)
	}
	spread = bench.SpreadOf(commits)
	m.CommitP50, m.CommitP99 = bench.Milliseconds(spread.P50), bench.Milliseconds(spread.P99)
	return m, nil
}

// side lets clients work side by side.
func (s *server) side(clients int, work func(i int) ([]time.Duration, error)) (all []time.Duration, failed error) {
	var mu sync.Mutex
	var working sync.WaitGroup
	for i := range clients {
		working.Go(func() {
			times, err := work(i)
			mu.Lock()
			defer mu.Unlock()
			all, failed = append(all, times...), errors.Join(failed, err)
		})
	}
	working.Wait()
	return all, failed
}

// add adds messages one after the other.
func (s *server) add(ctx context.Context, client *http.Client, session string, messages int) (times []time.Duration, err error) {
	for i := range messages {
		body := fmt.Sprintf(`{"role":"%s","content":"I prefer number %d of what %s has to offer, since it worked the last time."}`, domain.RoleUser, i, session)
		took, err := s.post(ctx, client, "/api/v1/sessions/"+session+"/messages", body)
		if err != nil {
			return times, err
		}
		times = append(times, took)
	}
	return times, nil
}

func (s *server) post(ctx context.Context, client *http.Client, path, body string) (time.Duration, error) {
	began := time.Now()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.url+path, bytes.NewBufferString(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	said, err := io.ReadAll(response.Body)
	took := time.Since(began)
	if err = errors.Join(err, response.Body.Close()); err == nil && response.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d: %.300s", path, response.StatusCode, said)
	}
	return took, err
}
