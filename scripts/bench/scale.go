package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/annals-kb/annals/embedding"
)

// scale measures one database while it grows, with the built-in embedder.
type scale struct {
	settings
	Sizes     []int `help:"Numbers of items, ascending." default:"10000,100000,1000000"`
	Questions int   `help:"Questions." default:"50"`
	Rebuild   bool  `help:"Rebuild the knowledge table at every size." default:"true" negatable:""`
}

// Run implements the command.
func (b *scale) Run(ctx context.Context) error { return b.run(ctx, "scale", b.measure) }

func (b *scale) measure(ctx context.Context, s *session) error {
	for _, p := range s.programs {
		if err := b.measureOne(ctx, s, p); err != nil {
			return err
		}
	}
	return nil
}

// grown writes items from one size to the next. Each belongs to one of a hundred teams.
func grown(a author, from, to int) iter.Seq[item] {
	return func(yield func(item) bool) {
		for i := from; i < to; i++ {
			it := a.write()
			it.ID, it.Owner, it.Scopes = "item-"+strconv.Itoa(i), "org:acme",
				[]string{"org:acme", "team:s" + strconv.Itoa(i%100)}
			if !yield(it) {
				return
			}
		}
	}
}

func (b *scale) measureOne(ctx context.Context, s *session, p program) (err error) {
	server, err := s.start(ctx, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	written, known, have := newAuthor(7), newAuthor(7), 0
	truth := b.newTruth()
	for _, size := range b.Sizes {
		at := strconv.Itoa(size) + " items, "
		note := func(name, unit string, better direction, value float64) { s.add(p.name, at+name, unit, better, value) }
		began := time.Now()
		if err := server.load(ctx, grown(written, have, size)); err != nil {
			return err
		}
		note("import", "items/s", more, float64(size-have)/time.Since(began).Seconds())
		if err := server.caughtUp(ctx); err != nil {
			return err
		}
		note("import, until found by meaning", "items/s", more, float64(size-have)/time.Since(began).Seconds())
		truth.learn(grown(known, have, size))
		have = size
		if _, err := server.restart(ctx); err != nil { // indexes over vectors are built at a start
			return err
		}
		disk, err := server.disk(ctx)
		if err != nil {
			return err
		}
		note("disk", "MB", less, disk)
		if err := b.searches(ctx, server, truth, note); err != nil {
			return err
		}
		note("memory after searches", "MB", less, server.memory())
		if b.Rebuild {
			took, verifying, err := server.rebuild(ctx)
			if err != nil {
				return err
			}
			note("rebuild without verification", "s", less, (took - verifying).Seconds())
		}
		if err := server.caughtUp(ctx); err != nil {
			return err
		}
		o, err := server.rememberFor(ctx, requestsBy(newAuthor(uint64(size))), 64, 6*time.Second)
		if err != nil {
			return err
		}
		note("remember, 64 clients", "items/s", more, o.rate())
	}
	return nil
}

// searches asks all questions of every kind, after warming up.
func (b *scale) searches(ctx context.Context, server *server, t *truth,
	note func(string, string, direction, float64),
) error {
	everything, team := map[string]any{"org_id": "acme"}, map[string]any{"team_id": "s7"}
	kinds := []struct {
		name      string
		byMeaning bool
		context   map[string]any
		types     string
		exact     []*nearest
	}{
		{name: "search", context: everything},
		{name: "search in a team of 1 %", context: team},
		{name: "by meaning", byMeaning: true, context: everything, exact: t.all},
		{name: "by meaning in a team of 1 %", byMeaning: true, context: team, exact: t.team},
		{name: "by meaning, a type of 1 %", byMeaning: true, context: everything, types: types[0]},
	}
	for _, kind := range kinds {
		var times []time.Duration
		recall := 0.0
		for round := range 1 + b.Rounds {
			for q := range t.texts {
				body := map[string]any{"limit": depth, "context": kind.context}
				if kind.byMeaning {
					body["vector"], body["order"], body["min_score"] = t.vectors[q], "score", 0
				} else {
					body["query"] = t.texts[q]
				}
				if kind.types != "" {
					body["types"] = kind.types
				}
				began := time.Now()
				found, err := server.search(ctx, body)
				if err != nil {
					return fmt.Errorf("%s: %w", kind.name, err)
				}
				if round > 0 {
					times = append(times, time.Since(began))
				} else if kind.exact != nil {
					recall += kind.exact[q].share(found) / float64(len(t.texts))
				}
			}
		}
		note(kind.name+", p50", "ms", less, percentile(times, 0.50))
		note(kind.name+", p95", "ms", less, percentile(times, 0.95))
		if kind.exact != nil {
			note(kind.name+", recall@10", "", more, recall)
		}
	}
	var times []time.Duration
	for range 20 * b.Rounds {
		began := time.Now()
		if err := server.get(ctx, "/v1/knowledge?limit=100", nil); err != nil {
			return err
		}
		times = append(times, time.Since(began))
	}
	note("list 100, p95", "ms", less, percentile(times, 0.95))
	return nil
}

// truth is what exact searches by meaning find among all items, and among those of one team.
type truth struct {
	texts     []string
	vectors   [][]float32
	all, team []*nearest // by question
}

// nearest are the ten best items so far.
type nearest struct {
	ids    []string
	scores []float64
}

func (b *scale) newTruth() *truth {
	t, a := &truth{}, newAuthor(8)
	for range b.Questions {
		it := a.write()
		t.texts = append(t.texts, it.Task+" "+a.prose(2))
		t.all, t.team = append(t.all, &nearest{}), append(t.team, &nearest{})
	}
	t.vectors = embed(t.texts, embedding.Query)
	return t
}

func embed(texts []string, kind embedding.Kind) [][]float32 {
	vectors, err := embedding.Builtin{}.Embed(context.Background(), texts, kind)
	if err != nil {
		panic(err) // only a context that has ended stops it
	}
	return vectors
}

// learn compares all questions with more items, by the task and the content, which the program embeds.
func (t *truth) learn(items iter.Seq[item]) {
	type page struct{ ids, texts, teams []string }
	pages := make(chan page)
	var mu sync.Mutex
	var working sync.WaitGroup
	for range runtime.NumCPU() {
		working.Go(func() {
			for p := range pages {
				vectors := embed(p.texts, embedding.Document)
				for q := range t.vectors {
					for i, v := range vectors {
						score := dot(v, t.vectors[q])
						mu.Lock()
						t.all[q].add(p.ids[i], score)
						if p.teams[i] == "team:s7" {
							t.team[q].add(p.ids[i], score)
						}
						mu.Unlock()
					}
				}
			}
		})
	}
	var p page
	for it := range items {
		p.ids, p.texts, p.teams = append(p.ids, it.ID), append(p.texts, it.Task+"\n"+it.Content),
			append(p.teams, it.Scopes[1])
		if len(p.ids) == 500 {
			pages <- p
			p = page{}
		}
	}
	pages <- p
	close(pages)
	working.Wait()
}

func (n *nearest) add(id string, score float64) {
	if len(n.scores) == depth && score <= n.scores[depth-1] {
		return
	}
	at, _ := slices.BinarySearchFunc(n.scores, score, func(other, score float64) int { return cmp.Compare(score, other) })
	n.ids, n.scores = slices.Insert(n.ids, at, id), slices.Insert(n.scores, at, score)
	n.ids, n.scores = n.ids[:min(depth, len(n.ids))], n.scores[:min(depth, len(n.scores))]
}

func (n *nearest) share(found []string) float64 {
	expected := map[string]bool{}
	for _, id := range n.ids {
		expected[id] = true
	}
	return share(found, expected)
}
