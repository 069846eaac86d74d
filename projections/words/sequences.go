package words

import (
	"cmp"
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/rows"
)

// IsConversation tells whether an item's sequence is a conversation.
func IsConversation(k *domain.Knowledge) bool { return len(k.Text.Tags[SessionTag]) > 0 }

// Member is an item of a sequence.
type Member struct {
	Number int64
	Words  int
}

// longestSequence is the most items of a sequence. What more items share is no conversation.
const longestSequence = 256

// Members finds the items of each sequence that the search could find, in the order in which they were remembered.
func (p Index) Members(
	ctx context.Context, s domain.Search, audience domain.Audience, sequences []string,
) ([][]Member, error) {
	m := NewMatches(TermsOf(sequences))
	audience, s.Filter = rows.Narrow(s.Filter, audience)
	groups := GroupsOf(s.Filter) // what is loaded is filtered by the rest
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
func (m *Matches) Members() [][]Member {
	members := make([][]Member, len(m.hashes))
	for i, hash := range m.hashes {
		for _, b := range m.blocks {
			b.each(i, hash, func(low uint16, words int) bool {
				if b.has(low) {
					members[i] = append(members[i], Member{b.number<<blockBits | int64(low), words})
				}
				return len(members[i]) <= longestSequence
			})
		}
		slices.SortFunc(members[i], func(a, b Member) int { return cmp.Compare(a.Number, b.Number) })
		if len(members[i]) > longestSequence {
			members[i] = nil
		}
	}
	return members
}

// each passes the items of a block that have a term, until yield returns false.
func (b *matched) each(term int, hash uint64, yield func(low uint16, words int) bool) {
	if term < len(b.lists) {
		p := posting{low: -1}
		for at, data := 0, b.lists[term].data; at < len(data); {
			p, at, _ = nextPosting(data, at, p.low)
			if _, changed := b.changed[uint16(p.low)]; !changed && !yield(uint16(p.low), p.words) {
				return
			}
		}
	}
	for low, now := range b.changed {
		if now != nil && now.Count(hash) > 0 && !yield(low, now.Words) {
			return
		}
	}
}

// Together scores each sequence as if it were one item.
func (m *Matches) Together(sequences [][]Member) []float64 {
	all, words := 0, make([]int, len(sequences))
	counts, of := make([][]int, len(sequences)), make([]int, len(m.Terms))
	for i, members := range sequences {
		counts[i] = make([]int, len(m.Terms))
		for _, member := range members {
			words[i] += member.Words
			m.count(member.Number, of)
			for term, count := range of {
				counts[i][term] += count
			}
		}
		all += words[i]
	}
	average := float64(all) / float64(max(1, len(sequences)))
	sums := make([]float64, len(sequences))
	for i := range sums {
		for term, count := range counts[i] {
			if count > 0 {
				sums[i] += m.worth[term] * text.Saturation(count, words[i], average)
			}
		}
		sums[i] = text.WordScore(sums[i], m.attainable)
	}
	return sums
}
