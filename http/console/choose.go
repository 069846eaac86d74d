package console

import (
	"net/url"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// choice is one of several things that a form picks from.
type choice struct {
	Value, Title, Text, Note string
	Vote                     *api.Event // the title and the time of a vote
	Score                    float64    // of an item that was found; 0 for none
}

// choose finds what the form picks from.
func (a *acting) choose(p *page) (err error) {
	switch a.Act.Name {
	case "retract":
		a.Choices, err = ownVotes(p, a.ID)
	case "supersede":
		a.Find = p.param("find")
		a.Choices, err = successors(p, *a.Knowledge, a.Find)
	}
	return err
}

// ownVotes are the votes of the reader that count, newest first, among the newest 500 of the item.
func ownVotes(p *page, id string) ([]choice, error) {
	query := url.Values{
		"stream": {domain.KnowledgeStream(id)}, "order": {"desc"}, "limit": {"500"},
		"name": {"knowledge.found_helpful", "knowledge.found_harmful", "knowledge.feedback_retracted"},
	}
	events, _, err := pageOf[api.Event](p, query, "v1", "events")
	if err != nil {
		return nil, err
	}
	var votes []choice
	ended := map[string]bool{}
	for _, event := range events {
		b := ballotOf(event)
		ended[b.Vote], ended[b.Replaces] = true, true
		if b.Voter == voter(p) && !ended[event.EventID] {
			told := step{Event: event}.Told()
			votes = append(votes, choice{Value: event.EventID, Vote: &event, Text: told.Query, Note: told.Outcome})
		}
	}
	return votes, nil
}

// successors are items that may take the place of one: those that a search finds by some words, or by its own.
func successors(p *page, k api.Knowledge, words string) ([]choice, error) {
	if words == "" {
		words = shortened(k.Task+" "+k.Content, 400)
	}
	most, zero := 9, 0.0
	var got api.SearchAnswer
	request := api.Search{Query: words, Limit: &most, MinScore: &zero, Order: "score"}
	if err := p.post(request, &got, "v1", "search"); err != nil {
		return nil, err
	}
	var found []choice
	for _, hit := range got.Items {
		other := hit.Knowledge
		if other.ID != k.ID {
			found = append(found, choice{
				Value: other.ID, Title: other.Task, Text: other.Content, Note: other.Owner, Score: hit.Score,
			})
		}
	}
	return found, nil
}

// sight is who may see an item after a change, and could not before; and the other way round.
type sight struct{ Gain, Lose []string }

// sightOf compares who sees an item with who would see it. It is nil if that is the same.
func sightOf(k api.Knowledge, scopes []string, owner string) *sight {
	const everyone = "public"
	was, is := append(slices.Clone(k.Scopes), k.Owner), append(slices.Clone(scopes), owner)
	beyond := func(some, others []string) []string {
		if slices.Contains(others, everyone) {
			return nil
		}
		more := slices.DeleteFunc(slices.Clone(some), func(s string) bool { return s == "" || slices.Contains(others, s) })
		slices.Sort(more)
		return slices.Compact(more)
	}
	found := &sight{Gain: beyond(is, was), Lose: beyond(was, is)}
	if found.Gain == nil && found.Lose == nil {
		return nil
	}
	return found
}
