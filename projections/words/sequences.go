package words

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/rows"
)

// longestSequence is the most items of a sequence. What more items share is no conversation.
const longestSequence = 256

// Members finds the items of each sequence that the search could find, in the order in which they were remembered.
func (p Index) Members(
	ctx context.Context, s domain.Search, audience domain.Audience, sequences []string,
) ([][]int64, error) {
	m := NewMatches(TermsOf(sequences))
	audience, s.Filter = rows.Narrow(s.Filter, audience)
	groups := p.GroupsOf(s.Filter) // what is loaded is filtered by the rest
	if _, err := p.read(ctx, s.By.Tenant, groups, audience, m); err != nil {
		return nil, rows.Failed(ctx, "read sequences", err)
	}
	return m.Members(), nil
}

// TermsOf are the terms of a question for sequences.
func TermsOf(sequences []string) []text.QueryTerm {
	terms := make([]text.QueryTerm, len(sequences))
	for i, sequence := range sequences {
		terms[i] = text.QueryTerm{Term: sequence}
	}
	return terms
}

// Members are the items with each term, by number; none if they are too many.
func (m *Matches) Members() [][]int64 {
	members := make([][]int64, len(m.hashes))
	for i, hash := range m.hashes {
		for _, b := range m.blocks {
			b.each(i, hash, func(low uint16) bool {
				if b.has(low) {
					members[i] = append(members[i], b.number<<blockBits|int64(low))
				}
				return len(members[i]) <= longestSequence
			})
		}
		if slices.Sort(members[i]); len(members[i]) > longestSequence {
			members[i] = nil
		}
	}
	return members
}

// each passes the items of a block that have a term, until yield returns false.
func (b *matched) each(term int, hash uint64, yield func(low uint16) bool) {
	if term < len(b.lists) {
		p := posting{low: -1}
		for at, data := 0, b.lists[term].data; at < len(data); {
			p, at, _ = nextPosting(data, at, p.low)
			if _, changed := b.changed[uint16(p.low)]; !changed && !yield(uint16(p.low)) {
				return
			}
		}
	}
	for low, now := range b.changed {
		if now != nil && now.Count(hash) > 0 && !yield(low) {
			return
		}
	}
}
