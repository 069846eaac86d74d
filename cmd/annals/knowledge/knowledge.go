package knowledge

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// Knowledge is an item as the commands show it.
type Knowledge struct{ api.Knowledge }

// votes are the votes without the author's, with which an item begins.
func (k Knowledge) votes() string {
	r := k.Rating()
	counts := fmt.Sprintf("%d helpful, %d harmful", r.Others(), r.Harmful)
	if k.Eval == nil {
		return counts
	}
	return terminal.Joined(" · ", counts, domain.VotesBy(k.Eval.Votes, k.Eval.Voters))
}

// shortVotes are the votes in a list.
func (k Knowledge) shortVotes() string {
	return fmt.Sprintf("+%d -%d", k.Rating().Others(), k.Rating().Harmful)
}

func (k Knowledge) Rating() (r domain.Rating) {
	if k.Eval != nil {
		r.Helpful, r.Harmful = terminal.OrZero(k.Eval.Helpful), terminal.OrZero(k.Eval.Harmful)
		r.Confidence = terminal.OrZero(k.Eval.Confidence)
	}
	if k.Stale != nil {
		r.Reporters = k.Stale.Reporters
	}
	r.DisputedBy = k.DisputedBy
	return r
}

// Redactions counts redactions by class.
type Redactions map[string]int

// RedactionsOf reads the redactions from the header of an answer.
func RedactionsOf(a *client.Response) Redactions { return a.Redacted() }

func (r Redactions) Add(more map[string]int) {
	for class, n := range more {
		r[class] += n
	}
}

// Print shows the redactions in one line, if there are any.
func (r Redactions) Print(c *terminal.Console) {
	if len(r) > 0 {
		c.Say("redacted: %s", r.List())
	}
}

// List formats the counts of all classes.
func (r Redactions) List() string {
	parts := make([]string, 0, len(r))
	for _, class := range slices.Sorted(maps.Keys(r)) {
		parts = append(parts, fmt.Sprintf("%d %s", r[class], class))
	}
	return strings.Join(parts, ", ")
}
