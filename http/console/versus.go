package console

import (
	"cmp"
	"net/url"
	"slices"
	"strconv"

	"github.com/annals-kb/annals/http/api"
)

// versus is a search or a list at two moments of the log, the earlier one first.
type versus struct {
	From, To api.Moment
	Items    []moved
	Same     int  // items that are not among them, since nothing about them changed
	Cut      bool // a list is longer than the page reads, so nothing is compared
}

// moved is an item at the two moments.
type moved struct {
	Knowledge *api.Knowledge
	Was, Is   int    // its place in the answers, from 1; 0 if it is not there
	Change    string // new, gone, changed or same
}

// Up is how many places the item rose.
func (m moved) Up() int { return max(m.Was-m.Is, 0) }

// Down is how many places the item fell.
func (m moved) Down() int { return max(m.Is-m.Was, 0) }

// now is how addresses name the end of the log.
const now = "now"

// versusOf resolves the page's moment and the one that it is compared with. It is nil if the address names none.
func versusOf(p *page) (*versus, error) {
	input := p.param("vs")
	if input == "" {
		return nil, nil
	}
	v := &versus{From: p.Moment.Moment}
	query := url.Values{}
	if input != now {
		query.Set("as_of", input)
	}
	if err := p.get(&v.To, query, "v1", "log", "moment"); err != nil {
		return nil, err
	}
	if v.From.Position > v.To.Position {
		v.From, v.To = v.To, v.From
	}
	return v, nil
}

// position is a moment as requests name it.
func position(m api.Moment) string { return strconv.FormatInt(max(m.Position, 1), 10) }

// compare finds what became of the items of two lists, in the order of the second, and then those that are gone.
func (v *versus) compare(before, after []api.Knowledge) {
	was := map[string]int{}
	for i, k := range before {
		was[k.ID] = i + 1
	}
	for i, k := range after {
		one := moved{Knowledge: &k, Was: was[k.ID], Is: i + 1, Change: "same"}
		if one.Was == 0 {
			one.Change = "new"
		} else if before[one.Was-1].Version != k.Version {
			one.Change = "changed"
		}
		delete(was, k.ID)
		v.Items = append(v.Items, one)
	}
	for i, k := range before {
		if was[k.ID] != 0 {
			v.Items = append(v.Items, moved{Knowledge: &k, Was: i + 1, Change: "gone"})
		}
	}
}

// compareSearch asks the same at both moments.
func (v *versus) compareSearch(p *page, request api.Search) error {
	var lists [2][]api.Knowledge
	for i, at := range []api.Moment{v.From, v.To} {
		request.AsOf = api.AsOf(position(at))
		var answer api.SearchAnswer
		if err := p.post(request, &answer, "v1", "search"); err != nil {
			return err
		}
		for _, hit := range answer.Items {
			lists[i] = append(lists[i], *hit.Knowledge)
		}
	}
	v.compare(lists[0], lists[1])
	return nil
}

// maxVersusPages is how many pages of 100 items a comparison of lists reads at each moment.
const maxVersusPages = 5

// compareLists reads a list at both moments, and keeps the items that differ.
func (v *versus) compareLists(p *page, query url.Values) error {
	query.Set("limit", "100")
	var lists [2][]api.Knowledge
	for i, at := range []api.Moment{v.From, v.To} {
		query.Del("cursor")
		query.Set("as_of", position(at))
		var next string
		var err error
		if lists[i], next, err = pagesOf[api.Knowledge](p, maxVersusPages, query, "v1", "knowledge"); err != nil {
			return err
		}
		if v.Cut = next != ""; v.Cut {
			return nil
		}
	}
	v.compare(lists[0], lists[1])
	all := len(v.Items)
	v.Items = slices.DeleteFunc(v.Items, func(one moved) bool { return one.Change == "same" })
	v.Same = all - len(v.Items)
	return nil
}

// withNow is the address that compares a page of the past with the present; empty if the page cannot be compared.
func withNow(p *page) string {
	item, isItem := p.Data.(*item)
	switch {
	case !p.Moment.Past():
	case p.Path == Root+"search", p.Path == Root+"knowledge":
		return p.With("vs", now)
	case isItem && item.Knowledge != nil:
		return Root + item.TabPath("compare") + encode(nil, "from", strconv.FormatInt(p.Moment.Position, 10))
	}
	return ""
}

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
	made.From = cmp.Or(made.From, strconv.FormatInt(made.Moments[max(last-1, 0)].Position, 10))
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
