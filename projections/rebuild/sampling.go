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

// maxSearches is how many searches a verification makes. comparedHits is how many of the first hits of each it
// compares.
const (
	maxSearches  = 50
	comparedHits = 10
)

// searchSample has searches for the tasks of items. They are always of the same items of a log, in any order.
type searchSample struct {
	sampled []sampledSearch // by rank, which is as good as random
	// withoutConfidence is the overlap of hits by words alone, with confidence ignored.
	withoutConfidence float64
}

type sampledSearch struct {
	rank   uint64
	id     string // of the item whose task it is
	tenant string
	text   string
	scopes []domain.Scope
}

// consider samples an item's task, or the first words of its content, if the item has one of the lowest ranks.
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

// sample keeps a search if it has one of the lowest ranks.
func (s *searchSample) sample(one sampledSearch) {
	at, _ := slices.BinarySearchFunc(s.sampled, one.rank,
		func(c sampledSearch, rank uint64) int { return cmp.Compare(c.rank, rank) })
	if at < maxSearches {
		s.sampled = slices.Insert(s.sampled, at, one)
		s.sampled = s.sampled[:min(len(s.sampled), maxSearches)]
	}
}

// firstWords are the start of a text, about as long as a question of a dozen words. A text may have no spaces.
func firstWords(content string) string {
	words := strings.Fields(content)
	text := []rune(strings.Join(words[:min(len(words), 12)], " "))
	return string(text[:min(len(text), 120)])
}

// search asks both versions the same questions by words, in the snapshot, and notes how many hits they share. It does
// not depend on where terms are stored: after an import, the active version has packed rows and the new one index
// rows.
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

// sameAnswers tells whether searches find the same. If the change is to change nothing, that includes confidence. If
// it is to change terms, it always holds.
func (e *verification) sameAnswers() bool {
	switch {
	case len(e.report.Intended) == 0:
		return e.report.Overlap == 1
	case !slices.Contains(e.report.Intended, "words"):
		return e.searches.withoutConfidence == 1
	}
	return true
}

// compareAnswers asks both versions, and returns the first hits of each and the share of common ones.
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
			Copies: true,
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
