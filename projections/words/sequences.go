package words

import (
	"context"

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
func (m *Matches) Members() [][]Member {
	members := make([][]Member, len(m.found))
	for i, found := range m.found {
		for _, o := range found {
			members[i] = append(members[i], Member{m.items[o.item].number, int(m.items[o.item].words)})
		}
		if len(members[i]) > longestSequence {
			members[i] = nil
		}
	}
	return members
}

// Together scores each sequence as if it were one item.
func (m *Matches) Together(sequences [][]Member) []float64 {
	at := map[int32]int{}
	words, all := make([]int, len(sequences)), 0
	for i, members := range sequences {
		for _, member := range members {
			words[i] += member.Words
			if item, found := m.at(member.Number); found {
				at[int32(item)] = i
			}
		}
		all += words[i]
	}
	average := float64(all) / float64(max(1, len(sequences)))
	sums := make([]float64, len(sequences))
	counts := make([]int, len(sequences))
	for term, found := range m.found {
		clear(counts)
		for _, o := range found {
			if sequence, is := at[o.item]; is {
				counts[sequence] += int(o.count)
			}
		}
		worth := text.IDF(m.counted, m.containing[term])
		for i, count := range counts {
			if count > 0 {
				sums[i] += worth * text.Saturation(count, words[i], average)
			}
		}
	}
	for i := range sums {
		sums[i] = text.WordScore(sums[i], m.attainable)
	}
	return sums
}
