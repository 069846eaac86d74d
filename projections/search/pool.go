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
	"github.com/annals-kb/annals/projections/vectors"
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

// A question and its answer are often two remarks, and only one of them has the words. Found by measuring retrieval
// (docs/performance.md).
const (
	besideGain    = 0.7  // what a remark gains of the better score directly before or after it
	leastInCommon = 0.05 // the own score of a remark that has a word or a meaning in common with the question
	speakerGain   = 1.7  // times, for what the only person said whom the question names
)

// Pool are the best candidates of a search. Each is judged by its own text first, then by the items beside it.
type Pool struct {
	Words *words.Matches
	// Members finds the items of sequences.
	Members func(ctx context.Context, sequences []string) ([][]int64, error)
	// Load reads items, and adds those that may be found.
	Load func(ctx context.Context, numbers []int64) error

	models     [2]embedding.Calibration // of the built-in model and of the configured one
	question   *embedding.Question      // nil if words and vectors suffice
	queryWords []string                 // the words of the question
	filter     domain.Filter
	tokenizer  text.Tokenizer // of what the filter says of texts
	copies     bool           // of an item are searched, whatever stands beside them
	Entries    []*Entry
}

// Entry is a candidate with what is read of its item.
type Entry struct {
	Number    int64
	Cosines   Cosines
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

// NewPool makes a pool for a question that is asked of some models, the built-in one first.
func NewPool(s domain.Search, m *words.Matches, models []*vectors.Projection) *Pool {
	p := &Pool{
		Words: m, copies: s.Copies, filter: s.Filter, tokenizer: text.Tokenizers()[0],
		queryWords: strings.Fields(text.Fold(s.Text)),
	}
	for i, model := range models {
		p.models[i] = model.Embedder.Calibration()
	}
	for i, w := range p.queryWords {
		p.queryWords[i] = strings.TrimSuffix(strings.Trim(w, ".,;:!?\"'()"), "'s")
	}
	if !s.Copies && text.HasContent(m.Terms) {
		p.question = embedding.NewQuestion(s.Text, m.Rarity)
	}
	return p
}

// Cosines are those of an item's nearest piece by the built-in model and by the configured one, if it has vectors.
type Cosines [2]Cosine

// Cosine is a cosine if it is known.
type Cosine struct {
	Known bool
	Of    float64
}

// Nearer keeps the greatest cosine.
func (c *Cosine) Nearer(cosine float64) {
	if !c.Known || cosine > c.Of {
		c.Known, c.Of = true, cosine
	}
}

// Estimate is the score of an item before its text is read.
func (p *Pool) Estimate(number int64, cosines Cosines) float64 {
	if number == p.Words.Named {
		return 1
	}
	hasWords := len(p.Words.Terms) > 0
	score := p.models[0].Estimate(p.Words.ScoreOf(number), cosines[0].Of, cosines[0].Known, hasWords)
	return p.beside(score, cosines[1], hasWords)
}

// beside joins a score with the cosine of the configured model, which decides alone if there is nothing else. Without
// a vector of the model, the rest decides.
func (p *Pool) beside(score float64, model Cosine, others bool) float64 {
	switch {
	case !model.Known:
		return score
	case !others:
		return p.models[1].Score(model.Of)
	}
	return p.models[1].Beside(score, model.Of)
}

// Add judges an item by its own text, and adds it if its text passes the filter.
func (p *Pool) Add(e *Entry) {
	k, c := e.Item, &e.Candidate
	if k.ID = c.ID; !words.Holds(p.tokenizer, p.filter, k) {
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
	}
	builtin, model := e.Cosines[0], e.Cosines[1]
	if builtin.Known {
		c.Semantic = p.models[0].Score(builtin.Of)
		switch {
		case p.question != nil:
			c.Semantic = embedding.Meaning(e.covered, builtin.Of)
			c.Score = embedding.Together(c.Semantic, c.Lexical)
		case len(p.Words.Terms) > 0:
			c.Score = p.models[0].Join(c.Semantic, c.Lexical)
		default: // a question that is only a vector
			c.Score = c.Semantic
		}
	}
	if model.Known {
		c.Model = p.models[1].Score(model.Of)
		e.covered = max(e.covered, p.models[1].Share(model.Of))
	}
	c.Semantic = p.beside(c.Semantic, model, builtin.Known)
	c.Score = p.beside(c.Score, model, len(p.Words.Terms) > 0)
	switch {
	case len(p.filter.Phrases) > 0:
		e.covered = 1
	case len(p.Words.Terms) > 0 && !text.HasContent(p.Words.Terms):
		c.Score = 0 // nothing is about the question
	}
	c.Covered, e.own = e.covered, text.WordShare(c.Score)
	p.Entries = append(p.Entries, e)
}

// Judge adds what the items beside each candidate say, and who said it.
func (p *Pool) Judge(ctx context.Context) error {
	if p.copies || !text.HasContent(p.Words.Terms) {
		return nil
	}
	slices.SortStableFunc(p.Entries, func(a, b *Entry) int { return cmp.Compare(b.own, a.own) })
	var names []string
	for _, e := range p.Entries[:min(sequenced, len(p.Entries))] {
		if name := words.SequenceOf(e.Item); name != "" && len(e.speakers()) > 0 && !slices.Contains(names, name) {
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

// Rank ranks the candidates: in bands, unless the caller set a least score or the question says nothing. below is the
// best score of what is not shown.
func (p *Pool) Rank(s domain.Search, audience domain.Audience, minScore float64) (hits []domain.Hit, below float64) {
	candidates := make([]domain.Candidate, len(p.Entries))
	for i, e := range p.Entries {
		if e.Number == p.Words.Named {
			e.Candidate.Named, e.Candidate.Score, e.Candidate.Covered = true, 1, 1
			e.Candidate.Statement, e.Candidate.Beside = "", ""
		}
		candidates[i] = e.Candidate
		if _, shared := audience.Best(e.Candidate.Scopes); shared && e.Candidate.Score < minScore {
			below = max(below, e.Candidate.Score)
		}
	}
	if p.question == nil || s.MinScore != nil {
		return domain.Rank(candidates, audience, s.Order, minScore, s.Limit), below
	}
	return domain.RankInBands(candidates, audience, s.Order, minScore, s.Limit, p.question.IsLong()), below
}

// addNeighbours raises the candidates of conversations, and reads the items beside the best of them.
func (p *Pool) addNeighbours(ctx context.Context, sequences [][]int64) error {
	at := map[int64]*Entry{}
	for _, e := range p.Entries {
		at[e.Number] = e
	}
	best := p.Entries[:min(sequenced, len(p.Entries))]
	wanted := map[int64]bool{}
	for _, members := range sequences {
		for i, number := range members {
			if !slices.Contains(best, at[number]) {
				continue
			}
			for _, beside := range members[max(0, i-1):min(len(members), i+2)] {
				if at[beside] == nil {
					wanted[beside] = true
				}
			}
		}
	}
	if len(wanted) > 0 {
		known := len(p.Entries)
		if err := p.Load(ctx, slices.Sorted(maps.Keys(wanted))); err != nil {
			return err
		}
		for _, e := range p.Entries[known:] {
			at[e.Number] = e
		}
	}
	for _, members := range sequences {
		for i, number := range members {
			if e := at[number]; e != nil {
				var before, after *Entry
				if i > 0 {
					before = at[members[i-1]]
				}
				if i+1 < len(members) {
					after = at[members[i+1]]
				}
				e.stand(before, after)
			}
		}
	}
	return nil
}

// stand raises a remark that stands between others by the better of those of its owner. They are nil if unknown. What
// nobody said, such as facts of one session, says nothing about what stands beside it.
func (e *Entry) stand(before, after *Entry) {
	var better *Entry
	where := ""
	for _, near := range [...]struct {
		*Entry
		where string
	}{{before, "before"}, {after, "after"}} {
		if n := near.Entry; n != nil && n.Item.Owner == e.Item.Owner && len(n.speakers()) > 0 &&
			(better == nil || n.own > better.own) {
			better, where = n, near.where
		}
	}
	if better == nil || len(e.speakers()) == 0 {
		return
	}
	if e.own < leastInCommon {
		e.Candidate.Beside = better.Candidate.ID
	}
	e.raise(e.own+besideGain*better.own, "from the item "+where+" it")
	e.Candidate.Covered = max(e.covered, better.covered)
}

// raise gives an item a higher share of the attainable score, and says why if that shows.
func (e *Entry) raise(share float64, why string) {
	before := e.Candidate.Score
	e.Candidate.Score = text.WordScore(share, 1)
	if more := e.Candidate.Score - before; more >= 0.005 {
		e.Candidate.Reasons = append(e.Candidate.Reasons, fmt.Sprintf("+%.2f %s", more, why))
	}
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
		e.raise(speakerGain*text.WordShare(e.Candidate.Score), "since "+named+" said it")
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
