package serve

import (
	"context"
	"sync"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/events/follow"
	annalshttp "github.com/annals-kb/annals/http"
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/projections/browse"
)

// Work runs the background work until ctx ends: subscriptions of the log, such as projections, and periodic steps. On a
// standby it runs what only reads.
func (s *Service) Work(ctx context.Context) error {
	var working sync.WaitGroup
	defer working.Wait()
	for _, p := range s.core.parts {
		for _, run := range p.reads {
			working.Go(func() { run(ctx) })
		}
	}
	if s.core.db.Standby() {
		<-ctx.Done()
		return nil
	}
	router, err := follow.NewRouter(s.core.logger)
	if err != nil {
		return err
	}
	for _, p := range s.core.parts {
		for _, subscribe := range p.follow {
			subscribe(router)
		}
	}
	for _, p := range s.core.parts {
		for _, run := range p.run {
			working.Go(func() { run(ctx) })
		}
	}
	err = follow.Run(ctx, router)
	<-ctx.Done()
	return err
}

// openMeaning lets the projections of knowledge follow the log, and measures what they hold.
func openMeaning(_ context.Context, c *core) (part, error) {
	health := browse.NewHealthGauges(c.reports())
	c.registry.MustRegister(health)
	p := part{
		follow: []func(*message.Router){
			func(router *message.Router) { c.knowledge.Models.FollowMeaning(router, c.followers) }, c.reader.Past.Follow,
		},
		run: []func(context.Context){
			c.knowledge.Models.MaintainModels,
			func(ctx context.Context) { c.knowledge.Indexer.IndexAllWords(ctx, c.log) },
			c.writeUses(c.keys.Write),
		},
		reads: []func(context.Context){c.every(time.Minute, "measure the health of scopes", health.Refresh)},
	}
	if c.db.Standby() {
		p.reads = append(p.reads, c.knowledge.Models.ReadAhead)
	}
	return p, nil
}

// openErasures carries out erasures, and rewrites files that hold erased texts.
func openErasures(_ context.Context, c *core) (part, error) {
	p := part{
		run:   []func(context.Context){c.eraser.Run},
		rooms: []annalshttp.Room{operate.Erasures{Eraser: c.eraser, PurgeAfter: c.cfg.PurgeAfter}},
	}
	if after := c.cfg.PurgeAfter; after > 0 {
		p.run = append(p.run, c.every(min(after, betweenPurges), "purge files", func(ctx context.Context) error {
			return c.purgeIfDue(ctx, after)
		}))
	}
	return p, nil
}

// writeUses records the uses of keys, a last time after ctx has ended.
func (c *core) writeUses(write func(context.Context) error) func(context.Context) {
	return func(ctx context.Context) {
		c.every(10*time.Second, "record uses of keys", write)(ctx)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		if err := write(last); err != nil {
			c.logger.WarnContext(last, "uses of keys were not recorded", "error", err)
		}
	}
}

// eraseAgain applies a list of erasures before the server answers requests. A standby gets them from its primary.
func (c *core) eraseAgain(ctx context.Context, list []Erasure) error {
	if list == nil || c.db.Standby() {
		return nil
	}
	done, err := ReplayList(ctx, c.log, c.eraser, list)
	if err == nil {
		c.logger.InfoContext(ctx, "applied a list of erasures", "lines", len(list),
			"erased", done.Erased, "before", done.Known, "unknown", done.Unknown, "held", done.Held,
			"revoked", done.Revoked, "rotated", done.Rotated, "demoted", done.Demoted,
			"not_known", terminal.Enumerated(done.UnknownStreams, done.Unknown))
	}
	return err
}

// betweenPurges is the interval of checking whether a purge is due.
const betweenPurges = time.Minute

// purgeIfDue rewrites the files before they have held erased texts for too long. After an incomplete purge, it tries
// again after the same time.
func (c *core) purgeIfDue(ctx context.Context, after time.Duration) error {
	status, err := c.knowledge.Files.Unpurged(ctx, "")
	early := min(after/2, betweenPurges)
	if err != nil || status.Unpurged == 0 || time.Since(status.Oldest) < after-early ||
		status.Last != nil && time.Since(status.Last.BeganAt) < after {
		return err
	}
	done, err := c.knowledge.Files.PurgeFiles(ctx)
	switch {
	case err == nil && !done.Complete:
		c.logger.WarnContext(ctx, "some files were not rewritten and may still hold erased texts",
			"notes", done.Notes, "for_owner", done.ForOwner)
	case err == nil:
		c.logger.InfoContext(ctx, "rewrote the files", "took", done.EndedAt.Sub(done.BeganAt).String())
	}
	return err
}
