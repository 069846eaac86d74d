package console

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// act is something that a reader can do to an item or a projection, with a form of its own.
type act struct {
	Name    string // in the address
	Label   string
	Explain string
	Done    string // what the next page says
	Key     string // that opens it on the item's page
	Danger  bool
	Fields  []field
	Method  string   // of the request to the API
	Path    []string // below the item or the projection
	Right   right    // on an item
	Root    bool     // for root; the other acts on projections are for admins
}

// field is a field of a form. One with values is a choice, one with rows takes several lines, and one with
// kinds takes an entity, or several.
type field struct {
	Name, Label string
	Rows        int
	Values      []string
	Required    bool
	Check       bool
	Pick        bool // it is one of the form's choices
	Kinds       []string
	Several     bool
}

func reasonField() field { return field{Name: "reason", Label: "Why", Rows: 2} }
func ownerField() field {
	return field{Name: "owner", Label: "Owner", Required: true, Kinds: anyone}
}

func scopesField() field {
	return field{Name: "scopes", Label: "Who may see it", Required: true, Kinds: anyone, Several: true}
}

// allActs are the acts in the order of their buttons.
func allActs() []act {
	used := []field{
		{Name: "query", Label: "What you used it for", Rows: 2}, {Name: "outcome", Label: "What came of it", Rows: 2},
	}
	reason := []field{reasonField()}
	held := []field{
		{Name: "reason_code", Label: "Reason, as one word that stays for ever", Required: true},
		{Name: "ticket", Label: "Ticket, which stays for ever"},
	}
	return []act{
		{
			Name: "helpful", Label: "Helpful, in words",
			Explain: "You vote that it was of use. Your vote raises its confidence.",
			Done:    "Your vote is recorded.", Fields: used, Method: http.MethodPost, Path: []string{"feedback"},
		},
		{
			Name: "harmful", Label: "Harmful, in words", Explain: "You vote that it did harm. Your vote lowers its confidence.",
			Done: "Your vote is recorded.", Fields: used, Method: http.MethodPost, Path: []string{"feedback"},
		},
		{
			Name: "retract", Label: "Take a vote back", Done: "Your vote is taken back.", Method: http.MethodDelete,
			Explain: "The vote does not count any more. The history keeps it.", Path: []string{"feedback"},
			Fields: []field{{Name: "event_id", Label: "Which of your votes", Pick: true}},
		},
		{
			Name: "stale", Label: "Report stale", Done: "Your report is recorded.", Fields: reason, Method: http.MethodPost,
			Explain: "You report that it is out of date. That halves its confidence until it is confirmed.", Key: "s",
			Path: []string{"stale"},
		},
		{
			Name: "confirm", Label: "Confirm", Explain: "You confirm that it still holds. Reports of staleness end.",
			Done: "It is confirmed.", Method: http.MethodPost, Path: []string{"confirm"}, Key: "c", Right: stewards,
			Fields: []field{{Name: "days", Label: "Holds for", Values: []string{"90", "30", "365"}}, reasonField()},
		},
		{
			Name: "revise", Label: "Revise", Explain: "You see what changes before it is saved.", Done: "The revision is saved.",
			Fields: revisable(), Method: http.MethodPatch, Key: "r", Right: changers,
		},
		{
			Name: "supersede", Label: "Supersede", Done: "It is superseded.", Method: http.MethodPost, Key: "u", Right: stewards,
			Path:    []string{"supersede"},
			Explain: "Another item takes its place. Searches find that one from now on.",
			Fields:  []field{{Name: "by", Label: "The item that takes its place", Pick: true}, reasonField()},
		},
		{
			Name: "rescope", Label: "Share", Done: "Its scopes are changed.", Method: http.MethodPatch, Right: changers,
			Explain: "You choose who may see it. You see who gains and who loses sight before it is saved.",
			Fields:  []field{scopesField(), reasonField()},
		},
		{
			Name: "handover", Label: "Hand over", Done: "It has another owner.", Method: http.MethodPatch, Right: changers,
			Explain: "Another owner may revise, share and forget it from now on.",
			Fields:  []field{ownerField(), reasonField()},
		},
		{
			Name: "hold", Label: "Hold", Done: "It is on hold.", Method: http.MethodPost, Path: []string{"hold"}, Right: admins,
			Explain: "Nobody can erase it until it is released. It can still be forgotten.", Fields: held,
		},
		{
			Name: "release", Label: "Release", Done: "It is released.", Method: http.MethodPost, Path: []string{"release"},
			Explain: "The legal hold ends. The item can be erased again.", Fields: held, Right: admins,
		},
		{
			Name: "restore", Label: "Restore", Explain: "It is what it was before it was forgotten or superseded.",
			Done: "It is restored.", Fields: reason, Method: http.MethodPost, Path: []string{"restore"}, Right: changers,
		},
		{
			Name: "forget", Label: "Forget", Explain: "It leaves all answers. Its history stays, and it can be restored.",
			Done: "It is forgotten.", Danger: true, Fields: reason, Method: http.MethodDelete, Key: "d", Right: changers,
		},
		{Name: "contain", Label: "Contain", Danger: true, Right: keepers}, // part: contain
		{ // with a page of its own
			Name: "erase", Label: "Erase", Done: "It is erased.", Danger: true, Right: erasers,
			Explain: "What people wrote about it is destroyed for good. Nothing brings it back.",
		},
	}
}

// acting is the form of an act.
type acting struct {
	form
	Act       act
	ID        string
	Knowledge *api.Knowledge // nil if it was forgotten
	Revision  int64          // that the reader saw
	Choices   []choice       // for the field that picks one
	Find      string         // what the choices were searched by
	Preview   []edit         // of a revision: what it would change
	Patch     string         // of a revision: what it asks of the API
	Sight     *sight         // of a revision: who would see the item, and who would not
	Since     []step         // what happened to the item since the reader saw it
	Back      string         // the review that the form was opened from; empty for the item
}

// Revises tells whether the act shows what it changes before it is saved.
func (a act) Revises() bool { return a.Method == http.MethodPatch }

// askAct shows the form of an act.
func askAct(p *page) (any, error) {
	form, err := formOf(p)
	if err == nil {
		form.Revision, err = form.read(p)
	}
	if err == nil {
		err = form.choose(p)
	}
	return form, err
}

// errPast refuses to write while the page shows the past.
var errPast = &client.Error{Problem: api.Problem{
	Status: http.StatusConflict, Title: "Nothing can be written in the past",
}}

// actOf is the act that the address names. The past has none.
func actOf(p *page, acts []act) (act, error) {
	i := slices.IndexFunc(acts, func(a act) bool { return a.Name == p.r.PathValue("act") })
	if i < 0 {
		return act{}, notFound(p)
	}
	if p.Moment.Past() {
		return act{}, errPast
	}
	return acts[i], nil
}

// goBack leads to a page that says what was done.
func goBack(p *page, done, path string) (any, error) {
	p.setDone(done)
	http.Redirect(p.w, p.r, Root+path, http.StatusSeeOther)
	return nil, errAnswered
}

// formOf is the form of an act, with what was sent.
func formOf(p *page) (*acting, error) {
	form := &acting{ID: p.r.PathValue("id")}
	if back := backToReview(p, "", ""); back != "" {
		form.Back = Root + back
	}
	var err error
	if form.Act, err = actOf(p, allActs()); err != nil {
		return nil, err
	}
	form.form = *newForm(p, form.Act.Fields)
	form.Revision, _ = strconv.ParseInt(p.r.PostFormValue("revision"), 10, 64)
	return form, nil
}

// read reads the item of an act, and returns its revision. A forgotten item has its revision from its history.
func (a *acting) read(p *page) (revision int64, err error) {
	var k api.Knowledge
	err = p.get(&k, nil, "v1", "knowledge", a.ID)
	var is state
	switch {
	case err == nil:
		is = stateOf(p, k)
		a.Knowledge, revision = &k, k.Revision
		if a.Act.Revises() {
			for name, value := range revisableValues(k) {
				if _, asked := a.Values[name]; !asked || !p.r.PostForm.Has(name) {
					a.Values[name] = value
				}
			}
		}
	case errors.Is(err, client.ErrGone):
		history, _, failed := readHistory(p, a.ID, "")
		if failed != nil {
			return 0, failed
		}
		is = goneState(err, history)
		if len(history) > 0 {
			revision = history[len(history)-1].Revision
		}
	default:
		return 0, err
	}
	return revision, a.Act.refuse(p, a.ID, is)
}

// doAct does what a form says, and goes to the item. A revision is shown before it is saved. The API decides first: a
// form that was sent twice finds the item as it left it.
func doAct(p *page) (any, error) {
	if p.r.PostFormValue("step") == "carry" { // texts of a new item, which are to revise this one instead
		texts := []string{"task", "content", "abstract", "overview", "tags"}
		for name := range p.r.PostForm {
			if !slices.Contains(texts, name) || p.r.PostFormValue(name) == "" {
				p.r.PostForm.Del(name)
			}
		}
		return askAct(p)
	}
	form, err := formOf(p)
	if err != nil {
		return nil, err
	}
	saves := !form.Act.Revises() || p.r.PostFormValue("patch") != "" && p.r.PostFormValue("step") == "save"
	var current int64
	if !saves {
		current, err = form.read(p)
	}
	switch {
	case err != nil:
		return nil, err
	case !saves && current != form.Revision:
		return nil, form.conflict(p, current)
	case len(form.unknown) > 0:
		form.Wrong = form.unknown
		return nil, form.invalid(p, "Some fields are not right")
	}
	request, err := form.request(p)
	if err != nil || request == nil {
		return form, err
	}
	request.Header = http.Header{"If-Match": {strconv.Quote(strconv.FormatInt(form.Revision, 10))}}
	_, refused := p.write(*request, nil)
	if refused == nil {
		return goBack(p, form.Act.Name, cmp.Or(backToReview(p, form.Act.Name, form.ID), "k/"+url.PathEscape(form.ID)))
	}
	if current, err = form.read(p); err != nil {
		return nil, err
	}
	switch {
	case errors.Is(refused, client.ErrOvertaken):
		form.Refused = problemOf(refused)
		return nil, form.conflict(p, current)
	case form.refuse(refused):
		if form.Act.Revises() && p.redacts != "" {
			form.preview()
		}
		return nil, form.again(p)
	}
	return nil, refused
}

// again shows the form with why the act did not happen.
func (a *acting) again(p *page) error {
	if a.Knowledge == nil {
		if _, err := a.read(p); err != nil {
			return err
		}
	}
	if err := a.choose(p); err != nil {
		return err
	}
	return answer(p, "act", a, a.Refused.Status)
}

// answer answers with another view or status than that of the route.
func answer(p *page, view string, data any, status int) error {
	p.Data = data
	p.render(view, status)
	return errAnswered
}

// conflict shows what happened since the reader saw the item, and their own version. The form then is for the current
// revision.
func (a *acting) conflict(p *page, current int64) error {
	if a.Refused == nil {
		a.Refused = &problem{Status: http.StatusPreconditionFailed, Title: "The item was revised in the meantime"}
	}
	history, _, err := readHistory(p, a.ID, "")
	if err != nil {
		return err
	}
	revision := int64(0)
	since := slices.DeleteFunc(slices.Clone(history), func(e api.Event) bool {
		before := revision
		revision = e.Revision
		return e.Revision <= a.Revision || e.Revision == before
	})
	a.Since, a.Revision = timeline(since, false), current
	if a.Act.Revises() && a.Knowledge != nil {
		a.preview()
	}
	a.Refused.Status = http.StatusPreconditionFailed
	return a.again(p)
}

// request is what the act asks of the API; nil if the form is to be shown again.
func (a *acting) request(p *page) (*client.Request, error) {
	reason := api.Reason{Reason: a.text("reason")}
	request := &client.Request{
		Method: a.Act.Method, Path: append([]string{"v1", "knowledge", a.ID}, a.Act.Path...), Body: reason,
	}
	switch a.Act.Name {
	case "helpful", "harmful":
		request.Body = api.Vote{Verdict: a.Act.Name, Query: a.Values["query"], Outcome: a.Values["outcome"]}
	case "retract":
		request.Body, request.Query = nil, url.Values{"event_id": {a.Values["event_id"]}}
	case "confirm":
		days, err := strconv.Atoi(a.Values["days"])
		if err != nil || days < 1 {
			return nil, a.invalid(p, "Choose how long it holds.")
		}
		until := inDays(p, days)
		request.Body = api.Confirmation{Reason: reason.Reason, Until: &until}
	case "supersede":
		request.Body = api.Supersession{By: a.text("by"), Reason: reason.Reason}
	case "hold", "release":
		request.Body = api.HoldReason{ReasonCode: a.text("reason_code"), Ticket: a.text("ticket")}
	case "revise", "rescope", "handover":
		if a.Knowledge == nil { // the page that showed the revision has made its patch
			request.Body = json.RawMessage(p.r.PostFormValue("patch"))
			return request, nil
		}
		a.preview()
		if a.Patch == "" {
			return nil, a.invalid(p, "Nothing is changed.")
		}
		switch p.r.PostFormValue("step") {
		case "save":
			request.Body, a.Preview = json.RawMessage(a.Patch), nil
			return request, nil
		case "edit":
			a.Preview = nil
		}
		return nil, nil
	}
	return request, nil
}

// preview finds what a revision would change, and its patch; an empty one changes nothing.
func (a *acting) preview() {
	patch := revision(*a.Knowledge, a.Values)
	if a.Values["confirm"] != "" {
		patch["confirm"] = true
	}
	if reason := a.text("reason"); reason != "" && len(patch) > 0 {
		patch["reason"] = reason
	}
	if body, err := json.Marshal(patch); err == nil && len(patch) > 0 {
		a.Patch = string(body)
	}
	a.Preview = previewOf(*a.Knowledge, a.Values)
	a.Sight = sightOf(*a.Knowledge, linesOf(a.Values["scopes"]), a.text("owner"))
}

func (a *acting) invalid(p *page, title string) error {
	a.Refused = &problem{Status: http.StatusUnprocessableEntity, Title: title}
	return a.again(p)
}

// unixLines ends lines as they were before a browser sent them.
func unixLines(s string) string { return strings.ReplaceAll(s, "\r\n", "\n") }

// inDays is the end of a confirmation that holds for so many days. A form that is sent twice gives the same.
func inDays(p *page, days int) time.Time {
	return p.Now.UTC().Truncate(time.Hour).AddDate(0, 0, days)
}
