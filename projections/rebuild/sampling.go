package rebuild

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/search"
	"github.com/annals-kb/annals/projections/vectors"
	"github.com/annals-kb/annals/projections/words"
)

// maxSearches is how many searches a verification makes, and comparedHits how many of their first hits
// it compares.
const (
	maxSearches  = 50
	comparedHits = 10
)

// searchSample are made of items' own tasks: always of the same items of a log, wherever they stand in it.
type searchSample struct {
	sampled []sampledSearch // by rank, which is as good as random
	// evenly is the overlap of what words alone find, confidence left aside.
	withoutConfidence float64
}

type sampledSearch struct {
	rank   uint64
	id     string // of the item whose task it is
	tenant string
	text   string
	scopes []domain.Scope
}

// consider takes an item's task, or else the first words of its content, if the item is among those of
// the least ranks.
func (s *searchSample) consider(tenant string, k *domain.Knowledge) {
	text := cmp.Or(strings.TrimSpace(k.Text.Task), firstWords(k.Text.Content))
	if k.Status != domain.Active || text == "" {
		return
	}
	hash := sha256.Sum256([]byte(tenant + "\x1f" + k.ID))
	scopes := slices.Clone(k.Scopes)
	if !slices.Contains(scopes, domain.Public) {
		scopes = append(scopes, domain.Public)
	}
	s.sample(sampledSearch{binary.BigEndian.Uint64(hash[:]), k.ID, tenant, text, scopes})
}

// sample takes a search if it is among those of the least ranks.
func (s *searchSample) sample(one sampledSearch) {
	at, _ := slices.BinarySearchFunc(s.sampled, one.rank,
		func(c sampledSearch, rank uint64) int { return cmp.Compare(c.rank, rank) })
	if at < maxSearches {
		s.sampled = slices.Insert(s.sampled, at, one)
		s.sampled = s.sampled[:min(len(s.sampled), maxSearches)]
	}
}

// firstWords are what a question of a dozen words would have, of a text that may have no spaces.
func firstWords(content string) string {
	words := strings.Fields(content)
	text := []rune(strings.Join(words[:min(len(words), 12)], " "))
	return string(text[:min(len(text), 120)])
}

// search asks both versions the same questions, by words, in the snapshot, and notes how much of their
// answers is the same. Where their words lie is not: what was just imported lies in the active version's
// bags for a while, and in the new one's index.
func (e *verification) search(ctx context.Context) error {
	var answered, evenly float64
	for _, s := range e.searches.sampled {
		answer, err := e.compareAnswers(ctx, s, false)
		if err != nil {
			return err
		}
		answered += answer.Same
		e.report.Impact.Answers.Note(answer)
		if len(e.report.Intended) > 0 {
			answer, err = e.compareAnswers(ctx, s, true)
		}
		if err != nil {
			return err
		}
		evenly += answer.Same
	}
	e.report.Searches = len(e.searches.sampled)
	e.report.Overlap, e.searches.withoutConfidence = 1, 1
	if n := float64(e.report.Searches); n > 0 {
		e.report.Overlap, e.searches.withoutConfidence = answered/n, evenly/n
	}
	return nil
}

// sameAnswers tells whether searches find what they found: as they are answered if the change means to
// change nothing, and by words alone unless it means to change those.
func (e *verification) sameAnswers() bool {
	switch {
	case len(e.report.Intended) == 0:
		return e.report.Overlap == 1
	case !slices.Contains(e.report.Intended, "words"):
		return e.searches.withoutConfidence == 1
	}
	return true
}

// compareAnswers asks both versions, and gives the first hits of each and the share that both find.
func (e *verification) compareAnswers(ctx context.Context, s sampledSearch, evenly bool) (domain.AnswerMove, error) {
	m := domain.AnswerMove{Tenant: s.tenant, ID: s.id, Same: 1}
	var err error
	if m.Before, err = found(ctx, e.catalogue.ViewOf(*e.old, e.tx), s, evenly); err != nil {
		return m, err
	}
	if m.After, err = found(ctx, e.catalogue.ViewOf(e.new, e.tx), s, evenly); err != nil {
		return m, err
	}
	both := 0
	for _, id := range m.After {
		if slices.Contains(m.Before, id) {
			both++
		}
	}
	if most := max(len(m.Before), len(m.After)); most > 0 {
		m.Same = float64(both) / float64(most)
	}
	return m, nil
}

// found are the ids of the first hits by words, for an audience of the item's scopes.
func found(ctx context.Context, v catalogue.View, s sampledSearch, evenly bool) ([]string, error) {
	f := &search.Execution{
		Request:  search.Request{Index: words.Index{View: v, Sizes: words.NewScopeSizes(), Postings: words.MaxPostings}},
		Audience: domain.Audience{Scopes: s.scopes}, IgnoreConfidence: evenly, StorageIndependent: true,
		Embedding: &vectors.QueryEmbedding{},
		Search: domain.Search{
			By: domain.Principal{Tenant: s.tenant}, Text: s.text, Order: domain.ByPriority, Limit: comparedHits,
		},
	}
	hits, err := f.Hits(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(hits))
	for i, hit := range hits {
		ids[i] = hit.ID
	}
	return ids, nil
}
