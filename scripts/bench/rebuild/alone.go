package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime/debug"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/scripts/bench"
)

// stages hears when a rebuild enters its stages.
type stages struct {
	slog.Handler
	mu      sync.Mutex
	entered map[string]time.Time
	used    map[string]float64 // seconds of the processor that the process had used by then
	built   func()             // is called when all but verification is done
}

func newStages() *stages {
	return &stages{
		Handler: slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}),
		entered: map[string]time.Time{}, used: map[string]float64{},
	}
}

// Enabled implements [slog.Handler].
func (s *stages) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements [slog.Handler].
func (s *stages) Handle(ctx context.Context, r slog.Record) error {
	r.Attrs(func(a slog.Attr) bool {
		if r.Message == "rebuild" && a.Key == "stage" {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.enter(a.Value.String())
		}
		return true
	})
	if !s.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return s.Handler.Handle(ctx, r)
}

func (s *stages) enter(stage string) {
	s.entered[stage], s.used[stage] = time.Now(), processor()
	if stage == "verifying" && s.built != nil {
		s.built()
	}
}

// WithAttrs implements [slog.Handler].
func (s *stages) WithAttrs([]slog.Attr) slog.Handler { return s }

func (s *stages) between(from, to string) float64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entered[to].Sub(s.entered[from]).Seconds()
}

// phases are how many seconds a rebuild spent on what, how many of the processor on all but verification, and the most
// memory that its process had.
type phases struct {
	Load      float64 `json:"load_s"`
	Index     float64 `json:"index_s"`
	Catch     float64 `json:"catch_up_s"`
	Verify    float64 `json:"verify_s"`
	Processor float64 `json:"build_processor_s"`
	memory
	disk
}

// build is everything without verification.
func (p phases) build() float64 { return p.Load + p.Index + p.Catch }

// alone rebuilds a database that nobody else uses, with garbage collected as seldom as a server does.
func alone(ctx context.Context, url, profile string, to io.Writer) (err error) {
	debug.SetGCPercent(400)
	db, err := database.Open(ctx, url, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	heard := newStages()
	var most memory
	var room disk
	err = within(ctx, db, slog.New(heard), func(_ *projections.Knowledge, _ *events.Log, r *projections.Rebuilder) error {
		return bench.Profiled(profile, func(enough func()) (err error) {
			heard.built = enough
			room, err = weighed(ctx, db, url, r, func() (err error) {
				most, err = watched(func() error {
					if _, err := r.Start(ctx, domain.RebuildOrder{}); err != nil {
						return err
					}
					return ended(ctx, r)
				})
				return err
			})
			return err
		})
	})
	if err != nil {
		return err
	}
	return json.NewEncoder(to).Encode(phases{
		Load: heard.between("building", "indexing"), Index: heard.between("indexing", "catching_up"),
		Catch: heard.between("catching_up", "verifying"), Verify: heard.between("verifying", "ready"),
		Processor: heard.used["verifying"] - heard.used["building"], memory: most, disk: room,
	})
}

// inChild rebuilds in a process of its own: memory is counted by process.
func inChild(ctx context.Context, url, profile string) (phases, error) {
	var measured phases
	var out bytes.Buffer
	child := exec.CommandContext(ctx, os.Args[0], "--alone", url, "--profile", profile)
	child.Stdout, child.Stderr = &out, os.Stderr
	if err := child.Run(); err != nil {
		return measured, fmt.Errorf("rebuild in a process of its own: %w", err)
	}
	return measured, json.Unmarshal(out.Bytes(), &measured)
}
