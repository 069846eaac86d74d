package main

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/annals-kb/annals/projections/embedding"
)

// scale measures databases while they grow, with the built-in embedder.
type scale struct {
	settings
	Sizes     []int `help:"Numbers of items, ascending." default:"10000,100000,1000000"`
	Questions int   `help:"Questions." default:"50"`
	Time      int   `help:"Seconds that clients remember at each size." default:"6"`
}

var everyone, aTeam = map[string]any{"org_id": "acme"}, map[string]any{"team_id": "s7"}

var growing = []audience{
	{name: "search", words: true, context: everyone},
	{name: "search in a team of 1 %", words: true, context: aTeam},
	{name: "by meaning", meaning: true, context: everyone},
	{name: "by meaning in a team of 1 %", meaning: true, scopes: []string{"team:s7"}, context: aTeam},
	{name: "by meaning, a type of 1 %", meaning: true, context: everyone, kind: types[0]},
}

// alone keeps the review out, which compares items for long after an import.
var alone = []string{"ANNALS_REVIEW=off"}

// Run implements the command.
func (b *scale) Run(ctx context.Context) error { return b.run(ctx, "scale", b.measure) }

func (b *scale) measure(ctx context.Context, s *session) error {
	var questions []question
	asker := newAuthor(8)
	for range b.Questions {
		words := asker.write().Task + " " + asker.prose(2)
		questions = append(questions, question{words: words, vector: embed(ctx, []string{words}, embedding.Query)[0]})
	}
	bests := make([]*best, len(growing))
	for n := range bests {
		bests[n] = newBest(questions)
	}
	nothing := func(*server) error { return nil }
	return s.withServers(ctx, alone, nothing, func(servers []*server) error {
		author, have := newAuthor(7), 0
		for _, size := range b.Sizes {
			items := grown(author, have, size)
			have = size
			for page := range slices.Chunk(items, 500) {
				learn(ctx, bests, page)
			}
			if err := b.measureSize(ctx, s, servers, strconv.Itoa(size)+" items, ", items, questions, bests); err != nil {
				return err
			}
		}
		return nil
	})
}

// grown writes the items from one size to the next. Each belongs to one of a hundred teams.
func grown(a author, from, to int) []item {
	items := a.items(to - from)
	for i := range items {
		number := strconv.Itoa(from + i)
		items[i].ID, items[i].Owner = "item-"+number, "org:acme"
		items[i].Scopes = []string{"org:acme", "team:s" + strconv.Itoa((from+i)%100)}
	}
	return items
}

// learn compares the questions with items by the task and the content, which the program embeds.
func learn(ctx context.Context, bests []*best, items []item) {
	var texts []string
	for _, it := range items {
		texts = append(texts, it.Task+"\n"+it.Content)
	}
	for i, vector := range embed(ctx, texts, embedding.Document) {
		for n, a := range growing {
			if a.meaning && a.sees(items[i]) {
				bests[n].learn(items[i].ID, vector)
			}
		}
	}
}

func embed(ctx context.Context, texts []string, kind embedding.Kind) [][]float32 {
	vectors, err := embedding.Builtin{}.Embed(context.WithoutCancel(ctx), texts, kind)
	if err != nil {
		panic(err) // only a context that has ended stops it
	}
	return vectors
}

// measureSize adds the items, asks all questions of every audience, and rebuilds.
func (b *scale) measureSize(
	ctx context.Context, s *session, servers []*server, at string, items []item, questions []question, bests []*best,
) error {
	for _, server := range servers {
		if err := s.load(ctx, server, at, items); err != nil {
			return err
		}
		if err := server.restart(ctx, alone...); err != nil { // indexes over vectors are built at a start
			return err
		}
		disk, err := server.disk(ctx)
		if err != nil {
			return err
		}
		s.add(server.program.name, at+"disk", "MB", disk)
	}
	for n, a := range growing {
		if err := a.measure(ctx, s, servers, at+a.name, questions, bests[n]); err != nil {
			return err
		}
	}
	for _, server := range servers {
		name := server.program.name
		s.add(name, at+"memory after searches", "MB", server.memory())
		took, verifying, err := server.rebuild(ctx)
		if err != nil {
			return err
		}
		s.add(name, at+"rebuild without verification", "s", (took - verifying).Seconds())
		if err := server.caughtUp(ctx); err != nil {
			return err
		}
		o, err := server.rememberFor(ctx, requestsBy(newAuthor(uint64(len(items)))), 64,
			time.Duration(b.Time)*time.Second)
		if err != nil {
			return err
		}
		s.add(name, at+"remember, 64 clients", "items/s", o.rate())
	}
	return nil
}
