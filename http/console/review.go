package console

import (
	"cmp"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// review is the page of one item that waits for a review. The address holds the filters, the place in the list, how
// many items are done, and the last act.
type review struct {
	Got     api.Reviews
	Current *api.Review // nil if there is none
	At      int         // how many items were skipped
	Done    int         // how many items are done
	Act, ID string      // the last act and its item
	Refused *problem
	Still   *api.Knowledge // the item of the last act; nil if it is gone
	Events  []api.Event    // the newest votes, reports and confirmations
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

// maxReviewEvents is how many of an item's votes and reports are shown.
const maxReviewEvents = 5

func readReview(p *page) (any, error) { return reviewOf(p) }

func reviewOf(p *page) (*review, error) {
	v := &review{
		At: number(p.Query, "at"), Done: number(p.Query, "done"), Act: p.param("act"), ID: p.param("id"),
		filters: p.params("queue", "owner", "scope", "mine", "assigned"), here: p.Query,
	}
	if p.Moment.Past() {
		return v, nil
	}
	query := url.Values{"limit": {"1"}, "cursor": p.values("cursor")}
	maps.Copy(query, v.filters)
	item := p.param("item")
	if item != "" {
		query.Set("limit", "100")
	}
	if err := p.get(&v.Got, query, "v1", "reviews"); err != nil {
		return nil, err
	}
	is := func(k *api.Knowledge) bool { return k.ID == item }
	i := slices.IndexFunc(v.Got.Items, func(r api.Review) bool { return is(r.Item) })
	if i < 0 {
		i = slices.IndexFunc(v.Got.Items, func(r api.Review) bool {
			return r.Pair != nil && slices.ContainsFunc(r.Pair.Items, is)
		})
	}
	if i > 0 {
		v.Got.Items[0] = v.Got.Items[i]
	}
	if k := new(api.Knowledge); v.ID != "" && p.get(k, nil, "v1", "knowledge", v.ID) == nil {
		v.Still = k
	}
	if len(v.Got.Items) == 0 {
		return v, nil
	}
	v.Current = &v.Got.Items[0]
	v.Reason, v.Content = p.r.PostFormValue("reason"), unixLines(p.r.PostFormValue("content"))
	v.Sides = sidesOf(v.Current)
	if p.MayWrite() {
		is := stateOf(p, *v.Current.Item)
		v.acts, v.Judges = actsFor(p, is), may(p, keepers, is)
	}
	if p.MayWrite() && v.Current.Pair != nil {
		v.permit(p)
	}
	history, _, err := readHistory(p, v.Current.Item.ID, "")
	v.explain(history)
	return v, err
}

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
	v.Content = cmp.Or(v.Content, strings.Join(texts, "\n\n"))
}

// number is a small number of the address; 0 if there is none.
func number(query url.Values, name string) int {
	n, err := strconv.Atoi(query.Get(name))
	if err != nil {
		return 0
	}
	return max(n, 0)
}

// explain finds what brought the item here, and its newest change.
func (v *review) explain(history []api.Event) {
	about := []string{
		"knowledge.found_helpful", "knowledge.found_harmful", "knowledge.reported_stale", "knowledge.confirmed",
		"knowledge.superseded",
	}
	for _, event := range slices.Backward(history) {
		if len(v.Events) < maxReviewEvents && slices.Contains(about, event.Name) {
			v.Events = append(v.Events, event)
		}
		if one := (step{Event: event}); v.Change == nil && event.Name == "knowledge.revised" && len(one.Edits()) > 0 {
			v.Change = &one
		}
	}
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

// Here is the address of the page without the last act.
func (v *review) Here() string {
	return Root + "review" + encode(v.here, "act", "", "id", "", "cursor", v.here.Get("cursor"))
}

// Skip is the address of the next item.
func (v *review) Skip() string {
	return Root + "review" + encode(v.here, "act", "", "id", "", "cursor", v.Got.NextCursor, "at", strconv.Itoa(v.At+1))
}

// Form is the page of an act, which leads back to the review.
func (v *review) Form(act string) string {
	back := encode(v.here, "act", "", "id", "", "cursor", v.here.Get("cursor"))
	return Root + "k/" + url.PathEscape(v.Current.Item.ID) + "/act/" + act + encode(nil, "review", cmp.Or(back, "?"))
}

// backToReview is the path below [Root] of the review that an act's form was opened from; empty if there was none.
func backToReview(p *page, act, id string) string {
	back := p.param("review")
	if back == "" || back[0] != '?' {
		return ""
	}
	query, err := url.ParseQuery(back[1:])
	if err != nil {
		return ""
	}
	return afterAct(query, act, id)
}

// afterAct is the path of the review after an act. A revised item is shown again, because it still waits.
func afterAct(query url.Values, act, id string) string {
	done := number(query, "done")
	if act != "revise" && act != "" {
		done++
	}
	return "review" + encode(query, "act", act, "id", id, "done", strconv.Itoa(done), "cursor", query.Get("cursor"))
}

// doReview does one of the acts that need no form of their own, or undoes the last one.
func doReview(p *page) (any, error) {
	act, id := p.r.PostFormValue("act"), p.r.PostFormValue("id")
	form := p.r.PostForm
	if stays := cmp.Or(form.Get("stays"), form.Get("merged")); stays != "" {
		act, id = "merge", stays
	}
	request := client.Post(api.Reason{Reason: form.Get("reason")}, "v1", "knowledge", id, act)
	if revision := form.Get("revision"); revision != "" {
		request.Header = http.Header{"If-Match": {strconv.Quote(revision)}}
	}
	switch act {
	case "restore", "unmerge", "decline":
	case "accept":
		accepted := api.Acceptance{Reason: form.Get("reason")}
		if content := unixLines(form.Get("content")); content != "" {
			accepted.Content = &content
		}
		request.Body = accepted
	case "confirm":
		until := inDays(p, 90)
		request.Body = api.Confirmation{Reason: form.Get("reason"), Until: &until}
	case "forget":
		request.Method, request.Path = http.MethodDelete, request.Path[:3]
	default:
		if request = pairRequest(form, act, id); len(request.Path) == 0 {
			return nil, notFound(p)
		}
	}
	_, err := p.write(request, nil)
	if errors.Is(err, client.ErrOvertaken) || isRefused(err) {
		why := problemOf(err)
		v, err := reviewOf(p)
		if err != nil {
			return nil, err
		}
		v.Refused = why
		return nil, answer(p, "review", v, why.Status)
	}
	if err != nil {
		return nil, err
	}
	if act == "restore" || act == "unmerge" { // the last act is undone
		p.Query.Set("done", strconv.Itoa(number(p.Query, "done")-1))
		return goBack(p, act, afterAct(p.Query, "", ""))
	}
	return goBack(p, act, afterAct(p.Query, act, id))
}
