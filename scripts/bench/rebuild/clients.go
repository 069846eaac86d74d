package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
	"github.com/annals-kb/annals/projections"
)

// underLoad rebuilds while clients read and write, and then switches to and fro.
func underLoad(ctx context.Context, db *database.DB, o options) (loaded, error) {
	result := loaded{Engine: db.Engine.String(), Clients: o.clients}
	heard := newStages()
	err := within(ctx, db, slog.New(heard), func(base *projections.Knowledge, log *events.Log, r *projections.Rebuilder) error {
		var serving, background sync.WaitGroup
		working, stop := context.WithCancel(ctx)
		background.Go(func() { base.CompactAll(working, log) })
		defer background.Wait()
		defer stop()

		all := make([]*client, o.clients)
		quit := make(chan struct{})
		for i := range all {
			all[i] = newClient(i, base, log, o.think)
			serving.Go(func() { all[i].serve(working, quit) })
		}
		var moments []span
		err := during(ctx, base, r, o.swaps, &moments)
		close(quit)
		serving.Wait()
		result.sum(all, heard, moments)
		return err
	})
	return result, err
}

// span is a piece of time.
type span struct{ from, to time.Time }

// during is what happens while the clients are at work.
func during(ctx context.Context, base *projections.Knowledge, r *projections.Rebuilder, swaps int, moments *[]span) error {
	time.Sleep(2 * time.Second) // what it is like without
	if _, err := r.Start(ctx, domain.RebuildOrder{}); err != nil {
		return err
	}
	if err := ended(ctx, r); err != nil {
		return err
	}
	for range swaps {
		time.Sleep(100 * time.Millisecond)
		began := time.Now()
		if _, err := base.Rollback(ctx); err != nil {
			return err
		}
		*moments = append(*moments, span{began, time.Now()})
	}
	return nil
}

// client remembers an item of its own, and then votes for it, revises it, gets it and searches for it in turns. It knows
// what it should be answered.
type client struct {
	name  string
	by    domain.Principal
	base  *projections.Knowledge
	log   *events.Log
	think time.Duration

	votes  int
	writes []request
	reads  []request
	failed []error
	wrong  []string
}

// request is when something was asked for and when it was answered.
type request struct{ span }

func newClient(i int, base *projections.Knowledge, log *events.Log, think time.Duration) *client {
	return &client{
		name: fmt.Sprintf("client%dq%x", i, time.Now().UnixNano()), by: domain.OpenPrincipal(), base: base, log: log, think: think,
	}
}

func (c *client) serve(ctx context.Context, quit <-chan struct{}) {
	command, err := domain.Remember{By: c.by, ID: c.name, Knowledge: domain.Remembered{
		Type: domain.Strategy, Owner: "org:acme", Scopes: []domain.Scope{"team:bench"},
		Text: domain.Text{Task: "while rebuilding", Content: c.name + " keeps working"},
	}}.Complete()
	if err != nil {
		panic(err) // there is nothing wrong with it
	}
	c.write(ctx, command)
	for i := 0; ; i++ {
		select {
		case <-quit:
			return
		case <-time.After(c.think):
		}
		switch i % 4 {
		case 0:
			c.votes++
			c.write(ctx, domain.GiveFeedback{Target: c.target(), Verdict: domain.Helpful, TraceID: fmt.Sprint(c.name, "-", c.votes)})
		case 1:
			c.find(ctx)
		case 2:
			content := fmt.Sprintf("%s keeps working for the time number %d", c.name, i)
			c.write(ctx, domain.Revise{Target: c.target(), Changes: domain.Revised{Content: &content}})
		case 3:
			c.search(ctx)
		}
	}
}

func (c *client) target() domain.Target { return domain.Target{By: c.by, ID: c.name} }

func (c *client) write(ctx context.Context, command domain.Command) {
	began := time.Now()
	_, err := c.log.Submit(ctx, domain.Submission{Command: command, By: c.by})
	c.writes = append(c.writes, request{span{began, time.Now()}})
	c.check(err)
}

// find wants to see every vote it has given.
func (c *client) find(ctx context.Context) {
	began := time.Now()
	k, err := c.base.Find(ctx, c.by.Tenant, c.name)
	c.reads = append(c.reads, request{span{began, time.Now()}})
	c.check(err)
	if err == nil && k.Helpful != 1+c.votes {
		c.wrong = append(c.wrong, fmt.Sprintf("%s has %d voices after %d votes", c.name, k.Helpful, c.votes))
	}
}

// search wants to find its item first, by a word that only it contains.
func (c *client) search(ctx context.Context) {
	search, err := domain.Search{
		By: c.by, Text: c.name + " works", Context: domain.Context{Given: true, Entities: []domain.Entity{"team:bench"}},
	}.Complete()
	if err != nil {
		panic(err) // there is nothing wrong with it
	}
	began := time.Now()
	answer, err := c.base.Search(ctx, search)
	c.reads = append(c.reads, request{span{began, time.Now()}})
	c.check(err)
	if err == nil && (len(answer.Hits) == 0 || answer.Hits[0].ID != c.name) {
		c.wrong = append(c.wrong, c.name+" was not found")
	}
}

func (c *client) check(err error) {
	if err != nil && !errors.Is(err, context.Canceled) {
		c.failed = append(c.failed, err)
	}
}

// sum puts together what the clients noticed.
func (l *loaded) sum(clients []*client, heard *stages, moments []span) {
	var writes, reads []request
	var wrong []string
	for _, c := range clients {
		writes, reads = append(writes, c.writes...), append(reads, c.reads...)
		l.Failed += len(c.failed)
		for _, err := range c.failed {
			l.Problems = append(l.Problems, err.Error())
		}
		wrong = append(wrong, c.wrong...)
	}
	l.Inconsistent = len(wrong)
	l.Problems = append(l.Problems, wrong...)
	l.Problems = l.Problems[:min(len(l.Problems), 5)]
	l.Requests = len(writes) + len(reads)

	began, switched := heard.entered["building"], heard.entered["ready"]
	near := func(r request, at time.Time) bool {
		return r.to.After(at.Add(-500*time.Millisecond)) && r.from.Before(at.Add(500*time.Millisecond))
	}
	l.note("before the rebuild", writes, reads, func(r request) bool { return r.to.Before(began) })
	for _, stage := range []struct{ name, from, to string }{
		{"loading", "building", "indexing"},
		{"building indexes", "indexing", "catching_up"},
		{"catching up", "catching_up", "verifying"},
		{"verifying", "verifying", "ready"},
	} {
		from, to := heard.entered[stage.from], heard.entered[stage.to]
		l.note(stage.name, writes, reads, func(r request) bool { return r.to.After(from) && r.from.Before(to) })
	}
	l.note("half a second around the first switch", writes, reads, func(r request) bool { return near(r, switched) })
	l.pauses(writes, moments)
}
