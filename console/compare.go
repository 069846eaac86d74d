package console

import (
	"net/url"
	"strconv"

	"github.com/annals-kb/annals/api"
)

// compared is an item at two moments.
type compared struct {
	From, To string // as the address has them, or their defaults
	States   [2]api.ItemState
	Edits    []edit
	Moments  []api.Event // to choose from: the events that changed the item itself
}

// compare asks what changed between two moments. The default is the newest revision.
func compare(p *page, id string, history []api.Event) (*compared, error) {
	made := &compared{From: p.param("from"), To: p.param("to")}
	revision := int64(0)
	for _, event := range history {
		if event.Revision != revision {
			made.Moments = append(made.Moments, event)
		}
		revision = event.Revision
	}
	last := len(made.Moments) - 1
	if last < 0 {
		return made, nil
	}
	if made.From == "" {
		made.From = strconv.FormatInt(made.Moments[max(last-1, 0)].Position, 10)
	}
	if made.To == "" && p.Moment.Past() {
		made.To = strconv.FormatInt(p.Moment.Position, 10)
	}
	query := url.Values{"from": {made.From}}
	if made.To != "" {
		query.Set("to", made.To)
	}
	var answer api.Comparison
	if err := p.get(&answer, query, "v1", "knowledge", id, "compare"); err != nil {
		return nil, err
	}
	made.States, made.Edits = [2]api.ItemState{answer.From, answer.To}, editsOf(answer.Changes, false)
	return made, nil
}
