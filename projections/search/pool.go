package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/projections/embedding"
	"github.com/annals-kb/annals/projections/words"
)

const (
	// poolSize is the least number of candidates whose texts are compared with the question.
	poolSize = 50
	// sequenced is how many of them bring in the items beside them.
	sequenced = 12
	// Considered is from how many times as many candidates these are chosen.
	Considered = 2
)

// How much an item gains, found by measuring retrieval (docs/performance.md). A question and its answer are often two
// remarks, and only one of them has the words.
const (
	besideGain  = 0.5  // of the best score directly before or after it
	nearGain    = 0.25 // of the best score at a distance of two
	sessionGain = 0.3  // of the score of its whole sequence
	speakerGain = 1.7  // times, for what the only person said whom the question names
)

// Pool are the best candidates of a search. Each is judged by its own text first, then by the items beside it.
type Pool struct {
	Words       *words.Matches
	Calibration embedding.Calibration
	// Members finds the items of sequences.
	Members func(ctx context.Context, sequences []string) ([][]words.Member, error)
	// Load reads items, and adds those that may be found.
	Load func(ctx context.Context, numbers []int64) error

	question   *embedding.Question // nil if words and vectors suffice
	queryWords []string            // the words of the question
	filter     domain.Filter
	copies     bool // of an item are searched, whatever stands beside them
	Entries    []*Entry
}

// Entry is a candidate with what is read of its item.
type Entry struct {
	Number    int64
	Compared  bool // it has a vector
	Cosine    float64
	Item      *domain.Knowledge // its text, tags, source and owner
	Candidate domain.Candidate
	own       float64 // the share of the attainable score that its own text has
	covered   float64 // of the question by its own text
}

// Size is how many candidates are read for a search.
func Size(s domain.Search) int { return max(poolSize, 2*s.Limit) }

// Judged chooses the candidates that a search judges, in the order of their numbers: half of them are what
// [domain.Rank] puts first, and the others have the best scores. Otherwise many doubtful items of a large scope would
// hide one that others confirmed, or a nearer one. Scores are estimates, and positions are numbers.
func Judged(some []domain.Candidate, s domain.Search, audience domain.Audience, size int) []int64 {
	slices.SortFunc(some, func(a, b domain.Candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(b.Position, a.Position))
	})
	chosen := map[int64]bool{}
	for _, hit := range domain.Rank(some, audience, s.Order, 0, size/2) {
		chosen[hit.Position] = true
	}
	for _, c := range some {
		if len(chosen) < size {
			chosen[c.Position] = true
		}
	}
	return slices.Sorted(maps.Keys(chosen))
}

// NewPool makes a pool for a question. Only the built-in embedder compares single words.
func NewPool(s domain.Search, m *words.Matches, calibration embedding.Calibration) *Pool {
	p := &Pool{Words: m, Calibration: calibration, copies: s.Copies, filter: s.Filter, queryWords: strings.Fields(text.Fold(s.Text))}
	for i, w := range p.queryWords {
		p.queryWords[i] = strings.TrimSuffix(strings.Trim(w, ".,;:!?\"'()"), "'s")
	}
	if calibration.Builtin && !s.Copies && text.HasContent(m.Terms) {
		p.question = embedding.NewQuestion(s.Text, m.Rarity)
	}
	return p
}

// Add judges an item by its own text, and adds it if its text passes the filter.
func (p *Pool) Add(e *Entry) {
	k, c := e.Item, &e.Candidate
	if k.ID = c.ID; !words.Holds(text.Tokenizers()[0], p.filter, k) {
		return
	}
	if !p.copies {
		c.Statement = string(k.Polarity) + " " + k.Text.Task + " " + k.Text.Content
	}
	c.Lexical = p.Words.ScoreOf(e.Number)
	c.Score = c.Lexical
	if p.question != nil {
		names := slices.Concat(k.Text.Tags["aliases"], k.Text.Tags["labels"], words.WordsOfID(c.ID))
		e.covered = p.question.Closeness(k.Text.Task + "\n" + strings.Join(names, "\n") + "\n" + k.Text.Content)
		c.Covered = e.covered
	}
	if e.Compared {
		c.Semantic = p.Calibration.Score(e.Cosine)
		switch {
		case p.question != nil:
			c.Semantic = embedding.Meaning(e.covered, e.Cosine)
			c.Score = embedding.Together(c.Semantic, c.Lexical)
		case len(p.Words.Terms) > 0:
			c.Score = p.Calibration.Join(c.Semantic, c.Lexical)
		default: // a question that is only a vector
			c.Score = c.Semantic
		}
	}
	switch {
	case len(p.filter.Phrases) > 0:
		c.Covered = 1
	case len(p.Words.Terms) > 0 && !text.HasContent(p.Words.Terms):
		c.Score = 0 // nothing is about the question
	}
	e.own = text.WordShare(c.Score)
	p.Entries = append(p.Entries, e)
}

// Judge adds what the items beside each candidate say, and who said it.
func (p *Pool) Judge(ctx context.Context) error {
	if p.copies || !text.HasContent(p.Words.Terms) {
		return nil
	}
	slices.SortStableFunc(p.Entries, func(a, b *Entry) int { return cmp.Compare(b.own, a.own) })
	var names []string
	of := map[string]int{}
	for _, e := range p.Entries[:min(sequenced, len(p.Entries))] {
		name := words.SequenceOf(e.Item)
		if name == "" {
			continue
		}
		// A conversation matters for each of its items, a common task only if several items are about the question.
		least := 2
		if words.IsConversation(e.Item) {
			least = 1
		}
		if of[name]++; of[name] == least {
			names = append(names, name)
		}
	}
	if len(names) > 0 {
		sequences, err := p.Members(ctx, names)
		if err != nil {
			return err
		}
		if err := p.addNeighbours(ctx, sequences); err != nil {
			return err
		}
	}
	p.weighSpeaker()
	return nil
}

// Rank ranks the candidates. below is the best score of what is not shown. weak is that of [domain.Convincing], which
// decides unless the caller set a least score or described a task.
func (p *Pool) Rank(s domain.Search, audience domain.Audience, minScore float64) (
	hits []domain.Hit, below float64, weak bool,
) {
	candidates := make([]domain.Candidate, len(p.Entries))
	for i, e := range p.Entries {
		if e.Number == p.Words.Named {
			e.Candidate.Named, e.Candidate.Score, e.Candidate.Covered, e.Candidate.Statement = true, 1, 1, ""
		}
		candidates[i] = e.Candidate
		if _, shared := audience.Best(e.Candidate.Scopes); shared && e.Candidate.Score < minScore {
			below = max(below, e.Candidate.Score)
		}
	}
	hits = domain.Rank(candidates, audience, s.Order, minScore, s.Limit)
	if p.question == nil || p.question.IsLong() || s.MinScore != nil || len(hits) == 0 {
		return hits, below, false
	}
	convincing, weak := domain.Convincing(hits)
	if len(convincing) == 0 {
		below = max(below, hits[0].Score)
	}
	return convincing, below, weak
}

// addNeighbours raises the candidates of sequences, and reads the items beside the best of them.
func (p *Pool) addNeighbours(ctx context.Context, sequences [][]words.Member) error {
	at := map[int64]*Entry{}
	for _, e := range p.Entries {
		at[e.Number] = e
	}
	best := map[int64]bool{}
	for _, e := range p.Entries[:min(sequenced, len(p.Entries))] {
		best[e.Number] = true
	}
	wanted := map[int64]bool{}
	for _, members := range sequences {
		for i, m := range members {
			for _, other := range members[max(0, i-2):min(len(members), i+3)] {
				if best[other.Number] && at[m.Number] == nil {
					wanted[m.Number] = true
				}
			}
		}
	}
	if len(wanted) > 0 {
		numbers := make([]int64, 0, len(wanted))
		for number := range wanted {
			numbers = append(numbers, number)
		}
		slices.Sort(numbers)
		if err := p.Load(ctx, numbers); err != nil {
			return err
		}
		for _, e := range p.Entries {
			at[e.Number] = e
		}
	}
	for i, score := range p.Words.Together(sequences) {
		for j, m := range sequences[i] {
			if e := at[m.Number]; e != nil && len(sequences[i]) > 1 {
				e.beside(at, sequences[i], j, text.WordShare(score))
			}
		}
	}
	return nil
}

// beside raises an item by its neighbours of the same owner, and by its sequence.
func (e *Entry) beside(at map[int64]*Entry, members []words.Member, i int, session float64) {
	share := e.own
	add := func(gain float64, what string) {
		before := text.WordScore(share, 1)
		share += gain
		if more := text.WordScore(share, 1) - before; more >= 0.005 {
			e.Candidate.Reasons = append(e.Candidate.Reasons, fmt.Sprintf("+%.2f from %s", more, what))
		}
	}
	covered := e.covered
	for _, near := range [...]struct {
		distance int
		gain     float64
		what     [2]string
	}{
		{1, besideGain, [2]string{"the item before it", "the item after it"}},
		{2, nearGain, [2]string{"the last but one before it", "the next but one after it"}},
	} {
		best, what := 0.0, ""
		for side, j := range [...]int{i - near.distance, i + near.distance} {
			if j < 0 || j >= len(members) {
				continue
			}
			if n := at[members[j].Number]; n != nil && n.Item.Owner == e.Item.Owner {
				if n.own > best {
					best, what = n.own, near.what[side]
				}
				covered = max(covered, n.covered)
			}
		}
		add(near.gain*best, what)
	}
	add(sessionGain*session, "the items around it")
	e.Candidate.Score, e.Candidate.Covered = text.WordScore(share, 1), covered
}

// weighSpeaker raises what somebody said if the question names that person, and nobody else who says something here.
func (p *Pool) weighSpeaker() {
	named := ""
	for _, e := range p.Entries {
		for _, speaker := range e.speakers() {
			if speaker == named || !p.names(speaker) {
				continue
			}
			if named != "" {
				return
			}
			named = speaker
		}
	}
	for _, e := range p.Entries {
		if named == "" || !slices.Contains(e.speakers(), named) {
			continue
		}
		c := &e.Candidate
		before := c.Score
		c.Score = text.WordScore(speakerGain*text.WordShare(c.Score), 1)
		if c.Score-before >= 0.005 {
			c.Reasons = append(c.Reasons, fmt.Sprintf("+%.2f since %s said it", c.Score-before, named))
		}
	}
}

// speakers are who said an item.
func (e *Entry) speakers() []string {
	names := slices.Clone(e.Item.Text.Tags["speaker"])
	if by := e.Item.Source.SubmittedBy; by != "" && !slices.Contains(names, by) {
		names = append(names, by)
	}
	return names
}

// names tells whether the question has a word of a name.
func (p *Pool) names(name string) bool {
	for part := range strings.FieldsSeq(text.Fold(name)) {
		if len(part) > 2 && slices.Contains(p.queryWords, part) && !text.IsStopWord(part) {
			return true
		}
	}
	return false
}
