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
	Cut      bool // a list is longer than the page reads
}

// moved is an item at the two moments.
type moved struct {
	Knowledge *api.Knowledge
	Was, Is   int    // its rank in a search, from 1; 0 if it is not there
	Change    string // new, gone, up, down, changed or same
}

// now is how addresses name the end of the log.
const now = "now"

// By is how many ranks the item moved.
func (m moved) By() int { return max(m.Was-m.Is, m.Is-m.Was) }

// versusOf resolves the page's moment and the one that it is compared with. It is nil if the address names none.
func versusOf(p *page) (*versus, error) {
	asked := p.param("vs")
	if asked == "" {
		return nil, nil
	}
	v := &versus{From: p.Moment.Moment}
	query := url.Values{}
	if asked != now {
		query.Set("as_of", asked)
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

// compareSearch asks the same at both moments, and compares the ranks. An item keeps the order that it has, or had.
func (v *versus) compareSearch(p *page, request api.Search) error {
	var answers [2]api.SearchAnswer
	for i, at := range []api.Moment{v.From, v.To} {
		request.AsOf = api.AsOf(position(at))
		if err := p.post(request, &answers[i], "v1", "search"); err != nil {
			return err
		}
	}
	was := map[string]int{}
	for i, hit := range answers[0].Items {
		was[hit.Knowledge.ID] = i + 1
	}
	for i, hit := range answers[1].Items {
		one := moved{Knowledge: hit.Knowledge, Was: was[hit.Knowledge.ID], Is: i + 1, Change: "same"}
		delete(was, hit.Knowledge.ID)
		switch {
		case one.Was == 0:
			one.Change = "new"
		case one.Was > one.Is:
			one.Change = "up"
		case one.Was < one.Is:
			one.Change = "down"
		}
		v.Items = append(v.Items, one)
	}
	for i, hit := range answers[0].Items {
		if was[hit.Knowledge.ID] != 0 {
			v.Items = append(v.Items, moved{Knowledge: hit.Knowledge, Was: i + 1, Change: "gone"})
		}
	}
	return nil
}

// maxVersusPages is how many pages of 100 items a comparison of lists reads at each moment.
const maxVersusPages = 5

// compareLists reads a list at both moments, and keeps the items that differ.
func (v *versus) compareLists(p *page, query url.Values) error {
	var lists [2]map[string]*api.Knowledge
	var cut [2]bool
	for i, at := range []api.Moment{v.From, v.To} {
		query.Set("as_of", position(at))
		var err error
		if lists[i], cut[i], err = readList(p, query); err != nil {
			return err
		}
	}
	v.Cut = cut[0] || cut[1]
	for id, is := range lists[1] {
		was := lists[0][id]
		switch {
		case was == nil && (!cut[0] ||
			is.CreatedAt != nil && v.From.RecordedAt != nil && is.CreatedAt.After(*v.From.RecordedAt)):
			v.Items = append(v.Items, moved{Knowledge: is, Change: "new"})
		case was != nil && was.Version != is.Version:
			v.Items = append(v.Items, moved{Knowledge: is, Change: "changed"})
		case was != nil:
			v.Same++
		}
	}
	for id, was := range lists[0] {
		if lists[1][id] == nil && !cut[1] { // else it may be on a page that was not read
			v.Items = append(v.Items, moved{Knowledge: was, Change: "gone"})
		}
	}
	slices.SortFunc(v.Items, func(a, b moved) int {
		return cmp.Or(cmp.Compare(b.Knowledge.Position, a.Knowledge.Position), cmp.Compare(a.Knowledge.ID, b.Knowledge.ID))
	})
	return nil
}

// readList reads the first pages of a list. Cut tells whether there are more.
func readList(p *page, query url.Values) (items map[string]*api.Knowledge, cut bool, err error) {
	query.Set("limit", "100")
	query.Del("cursor")
	items = map[string]*api.Knowledge{}
	for range maxVersusPages {
		var got api.Page[api.Knowledge]
		if err := p.get(&got, query, "v1", "knowledge"); err != nil {
			return nil, false, err
		}
		for i, k := range got.Items {
			items[k.ID] = &got.Items[i]
		}
		if got.NextCursor == "" {
			return items, false, nil
		}
		query.Set("cursor", got.NextCursor)
	}
	return items, true, nil
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
