package console

import (
	"cmp"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// review is what waits for a decision, one item after the other, on its own page or on Home. The address holds the
// filters, the place in the list, how many items are done, and the last act.
type review struct {
	Home    bool
	Got     api.Reviews
	Current *api.Review  // nil if there is none
	Then    []api.Review // those that follow
	Others  *api.Reviews // what waits for everybody; nil if it was not asked for
	At      int          // how many items were skipped
	Done    int          // how many items are done
	Act, ID string       // the last act and its item
	Refused *problem
	Since   []api.Event    // what was decided since the reader saw the item of the act that was refused
	Kept    []string       // what was typed about it, if it does not wait any more
	Still   *api.Knowledge // the item of the last act; nil if it is gone
	gone    bool           // the reader may bring it back
	Doubts  []api.Event    // the newest votes against the item, and reports
	Change  *step          // the newest that changed a field; nil if there is none
	Sides   []sided        // the items of a proposal
	Merges  bool           // the reader may merge them
	Closes  bool           // the reader may close the proposal
	Judges  bool           // the reader may accept or decline what waits for approval
	Changes string         // the id of the item that the reader may give a merged text; empty if there is none
	Content string         // the merged text
	Reason  string         // that was typed
	acts    []act          // what the reader may do to the item alone

	filters url.Values
	here    url.Values
}

const (
	maxDoubts = 3   // of an item are shown
	thenShown = 3   // items that follow
	mostRead  = 500 // of a list
)

func readReview(p *page) (any, error) { return reviewOf(p, p.param("item")) }

// reviewOf reads what waits, an item first. It begins with what waits for the reader, and if nothing does, with all.
func reviewOf(p *page, first string) (*review, error) {
	v := &review{
		Home: p.Here("") || p.param("from") == "home",
		At:   number(p.Query, "at"), Done: number(p.Query, "done"), Act: p.param("act"), ID: p.param("id"),
		filters: p.params("queue", "owner", "scope", "mine", "assigned"), here: maps.Clone(p.Query),
	}
	if p.Moment.Past() {
		return v, nil
	}
	opens := first == "" && len(p.params("owner", "scope", "mine", "assigned")) == 0
	if v.Home {
		v.filters = url.Values{}
		v.here.Set("from", "home")
	}
	if v.Home || opens {
		v.filters.Set("mine", "true")
	}
	err := v.read(p, first)
	if err == nil && opens && !v.Home && v.Got.Total+v.Done == 0 {
		v.filters.Set("mine", "false")
		err = v.read(p, first)
	}
	if err != nil {
		return nil, err
	}
	if opens && !v.Home {
		v.here["mine"] = v.filters["mine"]
	}
	if v.ID != "" {
		k := new(api.Knowledge)
		if err := p.get(k, nil, "v1", "knowledge", v.ID); err == nil {
			v.Still = k
		} else {
			v.gone = errors.Is(err, client.ErrGone)
		}
	}
	if v.Is("mine", "true") && (v.Current == nil || v.Home && p.Administers()) {
		v.Others = new(api.Reviews)
		if err := p.get(v.Others, url.Values{"limit": {"1"}}, "v1", "reviews"); err != nil {
			return nil, err
		}
	}
	if v.Current == nil {
		return v, nil
	}
	v.Sides = sidesOf(v.Current)
	if p.MayWrite() {
		is := stateOf(p, *v.Current.Item)
		v.acts, v.Judges = actsFor(p, is), is.Status == "proposed" && may(p, keepers, is)
	}
	if p.MayWrite() && v.Current.Pair != nil {
		v.permit(p)
	}
	history, _, err := readHistory(p, v.Current.Item.ID, "")
	v.explain(history)
	return v, err
}

// read reads the list, and finds the item to decide on and those that follow.
func (v *review) read(p *page, first string) error {
	most := v.At + thenShown + 1
	if first != "" {
		most += 100
	}
	query := url.Values{"limit": {strconv.Itoa(min(most, mostRead))}}
	maps.Copy(query, v.filters)
	if !v.Is("mine", "true") {
		query.Del("mine")
	}
	if err := p.get(&v.Got, query, "v1", "reviews"); err != nil {
		return err
	}
	list := v.Got.Items[min(v.At, len(v.Got.Items)):]
	if i := slices.IndexFunc(v.Got.Items, func(r api.Review) bool { return isAbout(r, first) }); i >= 0 {
		one := v.Got.Items[i]
		rest := slices.DeleteFunc(slices.Clone(list), func(r api.Review) bool { return r.Item.ID == one.Item.ID })
		list = append([]api.Review{one}, rest...)
	}
	if v.Current = nil; len(list) > 0 {
		v.Current, v.Then = &list[0], list[1:min(len(list), thenShown+1)]
	}
	return nil
}

// isAbout tells whether a review is about an item, alone or with others.
func isAbout(r api.Review, id string) bool {
	is := func(k *api.Knowledge) bool { return k.ID == id }
	return is(r.Item) || r.Pair != nil && slices.ContainsFunc(r.Pair.Items, is)
}

// Decides tells whether the reader may decide on the item. Who may not can vote.
func (v *review) Decides() bool { return v.May("confirm") || v.Closes || v.Judges }

// May tells whether the reader may do an act to the item alone.
func (v *review) May(name string) bool {
	return slices.ContainsFunc(v.acts, func(a act) bool { return a.Name == name })
}

// permit finds what the reader may do about a proposal, and joins the texts.
func (v *review) permit(p *page) {
	v.Merges = true
	var texts []string
	for _, k := range v.Sides {
		is := stateOf(p, *k.Knowledge)
		steward := may(p, stewards, is)
		v.Merges, v.Closes = v.Merges && steward, v.Closes || steward
		if v.Changes == "" && may(p, changers, is) {
			v.Changes = k.ID
		}
		texts = append(texts, k.Content)
	}
	v.Content = strings.Join(texts, "\n\n")
}

// number is a small number of the address; 0 if there is none.
func number(query url.Values, name string) int {
	n, err := strconv.Atoi(query.Get(name))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// explain finds who doubts the item, and its newest change.
func (v *review) explain(history []api.Event) {
	for _, event := range slices.Backward(history) {
		doubts := event.Name == "knowledge.found_harmful" || event.Name == "knowledge.reported_stale"
		if doubts && len(v.Doubts) < maxDoubts {
			v.Doubts = append(v.Doubts, event)
		}
		if one := (step{Event: event}); v.Change == nil && event.Name == "knowledge.revised" && len(one.Edits()) > 0 {
			v.Change = &one
		}
	}
}

// Said is why somebody doubts the item: their reason, or what came of its use.
func (v *review) Said(event api.Event) string {
	return cmp.Or(event.Reason, (step{Event: event}).Told().Outcome)
}

// Place is the number of the item among those that waited at the beginning.
func (v *review) Place() int { return v.Done + v.At + 1 }

// Of is how many items waited at the beginning.
func (v *review) Of() int { return v.Done + v.Got.Total }

// Waiting is the number of entries in all queues.
func (v *review) Waiting() (sum int) {
	for _, queue := range v.Got.Queues {
		sum += queue.Items
	}
	return sum
}

// With is the beginning of the list with other filters.
func (v *review) With(changes ...string) string {
	return Root + "review" + encode(v.filters, changes...)
}

// Is tells whether a filter has a value.
func (v *review) Is(name, value string) bool { return v.filters.Get(name) == value }

// Here is the address that an act is sent to.
func (v *review) Here() string { return Root + "review" + encode(v.here, "act", "", "id", "") }

// Go is the address of the list with a change of its place.
func (v *review) Go(name, value string) string {
	return Root + pathOf(v.here) + encode(v.here, "act", "", "id", "", "item", "", "from", "", name, value)
}

// Skip is the address of the next item.
func (v *review) Skip() string { return v.Go("at", strconv.Itoa(v.At+1)) }

// Undo is the act that takes the last one back; empty if none does.
func (v *review) Undo() string {
	switch {
	case v.Act == "forget", v.Act == "supersede", v.Act == "decline" && v.gone:
		return "restore"
	case v.Act == "merge":
		return "unmerge"
	}
	return ""
}

// Form is the page of an act, which leads back to the review.
func (v *review) Form(act string) string {
	back := encode(v.here, "act", "", "id", "")
	return Root + "k/" + url.PathEscape(v.Current.Item.ID) + "/act/" + act + encode(nil, "review", cmp.Or(back, "?"))
}

// pathOf is the path below [Root] of the page that shows a review.
func pathOf(query url.Values) string {
	if query.Get("from") == "home" {
		return ""
	}
	return "review"
}
