package rebuild

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/catalogue"
	"github.com/annals-kb/annals/projections/rows"
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

// search asks both versions the same questions by words, in the snapshot, and tells whether the versions find the same.
// The questions are the tasks of items, always of the same ones of a log, or the first words of their contents.
//
// If the change is to change confidence, the answers may differ in it, and if it is to change terms, or the active
// version lacks columns, in everything.
func (e *verification) search(ctx context.Context) (same bool, err error) {
	v := e.catalogue.ViewOf(e.new, e.tx)
	sampled, err := v.Read(ctx, rows.Select(e.tx).ModelTableExpr("? AS k", e.new.Tables.Knowledge).
		Where("status = ?", domain.Active).Where("task <> '' OR content <> ''").
		OrderExpr("number * 7919 % 10007, number, tenant").Limit(maxSearches)) // as good as random
	if err != nil {
		return false, rows.Failed(ctx, "sample items", err)
	}
	same = true
	for _, item := range sampled {
		s := domain.Search{
			By: domain.Principal{Tenant: item.Tenant}, Order: domain.ByPriority, Limit: comparedHits, Copies: true,
			Text: cmp.Or(strings.TrimSpace(item.Text.Task), firstWords(item.Text.Content)),
		}
		if item.Broken || s.Text == "" {
			continue
		}
		audience := domain.Audience{Scopes: item.Scopes}
		if !slices.Contains(item.Scopes, domain.Public) {
			audience.Scopes = append(item.Scopes, domain.Public)
		}
		answer, err := e.compareAnswers(ctx, s, audience, false)
		if err != nil {
			return false, err
		}
		answer.ID = item.ID
		e.report.Impact.Answers.Note(answer)
		e.report.Searches++
		e.report.Overlap += answer.Same
		if slices.Contains(e.report.Intended, "confidence") {
			answer, err = e.compareAnswers(ctx, s, audience, true)
		}
		if err != nil {
			return false, err
		}
		same = same && answer.Same == 1
	}
	if e.report.Searches == 0 {
		e.report.Overlap = 1
	} else {
		e.report.Overlap /= float64(e.report.Searches)
	}
	return same || slices.Contains(e.report.Intended, "words") || len(e.old.Tables.Changed) > 0, nil
}

// firstWords are the start of a text, about as long as a question of a dozen words. A text may have no spaces.
func firstWords(content string) string {
	words := strings.Fields(content)
	text := []rune(strings.Join(words[:min(len(words), 12)], " "))
	return string(text[:min(len(text), 120)])
}

// compareAnswers asks both versions, and returns the first hits of each and the share of common ones.
func (e *verification) compareAnswers(
	ctx context.Context, s domain.Search, audience domain.Audience, evenly bool,
) (domain.AnswerMove, error) {
	m := domain.AnswerMove{Tenant: s.By.Tenant, Same: 1}
	var err error
	if m.Before, err = found(ctx, e.catalogue.ViewOf(*e.old, e.tx), s, audience, evenly); err != nil {
		return m, err
	}
	if m.After, err = found(ctx, e.catalogue.ViewOf(e.new, e.tx), s, audience, evenly); err != nil {
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

// found are the ids of the first hits by words.
func found(
	ctx context.Context, v catalogue.View, s domain.Search, audience domain.Audience, evenly bool,
) ([]string, error) {
	f := &search.Execution{
		Request:  search.Request{Index: words.Index{View: v}},
		Audience: audience, IgnoreConfidence: evenly,
		Embedding: &vectors.QueryEmbedding{}, Search: s,
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
