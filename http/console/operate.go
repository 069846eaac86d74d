package console

import (
	"errors"
	"net/http"
	"net/url"
	"slices"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// operations are the acts on projections, in the order of their buttons.
func operations() []act {
	return []act{
		{
			Name: "rebuild", Label: "Rebuild", Done: "The rebuild has begun.", Root: true, Method: http.MethodPost,
			Explain: "A new version is computed from the log, beside the one that is read. Reading and writing go on. After " +
				"its verification it is read, and the version before is kept.",
			Path: []string{"rebuild"},
		},
		{
			Name: "cancel", Label: "Cancel the rebuild", Done: "The rebuild is cancelled.", Root: true, Danger: true,
			Explain: "What was built so far is deleted. The active version stays.",
			Method:  http.MethodDelete, Path: []string{"rebuild"},
		},
		{
			Name: "rollback", Label: "Read the other version", Done: "The other version is read now.", Root: true,
			Explain: "Answers come from the other version. Both versions are written, so nothing is lost, and you can go back.",
			Method:  http.MethodPost, Path: []string{"rollback"},
		},
		{
			Name: "retire", Label: "Retire the other version", Done: "The other version is retired.", Root: true, Danger: true,
			Explain: "The version that is kept is no longer written, and is deleted. From then on there is no way back to it.",
			Method:  http.MethodPost, Path: []string{"retire"},
		},
		{
			Name: "reread", Label: "Read the log again", Done: "It reads the log again.", Method: http.MethodPost,
			Explain: "The projection reads the log from its beginning. Until it has caught up, answers are as they were.",
			Path:    []string{"replay"},
		},
		{
			Name: "retry", Label: "Retry", Done: "It was tried again. What is still listed has failed again.",
			Explain: "The projection takes in the events that wait, in order. A stream that fails again stays in quarantine.",
			Method:  http.MethodPost, Path: []string{"quarantine", "replay"},
		},
		{
			Name: "skip", Label: "Skip", Done: "It is skipped.", Danger: true, Method: http.MethodPost,
			Explain: "The projection never takes in the events that wait, and its answers lack them. The log keeps them. " +
				"Later events of the stream are taken in again.",
			Path: []string{"quarantine", "skip"},
		},
	}
}

// OnQuarantine tells whether an act on a projection is about its quarantine.
func (a act) OnQuarantine() bool { return a.Path[0] == "quarantine" }

// suits tells whether an act makes sense for a projection now. The API decides who may do it.
func (a act) suits(d *projectionPage) bool {
	kept := slices.ContainsFunc(d.Versions, func(v version) bool {
		return v.State == "standby" || v.State == "retired" && d.Name == meaningProjection
	})
	switch a.Name {
	case "rebuild":
		return d.Name == knowledgeProjection && !d.Running()
	case "cancel":
		return d.Running()
	case "rollback":
		return d.Name == knowledgeProjection && kept
	case "retire":
		return kept
	case "reread":
		return d.Name == meaningProjection || d.Name == "past"
	}
	return false
}

// isFor tells whether the page offers an act on projections to the caller: not in the past.
func (a act) isFor(p *page) bool {
	return !p.Moment.Past() && (p.Caller.Operates || !a.Root && p.Administers())
}

// operating is the form of an act on a projection. It names the consequence.
type operating struct {
	Act        act
	Name       string // of the projection
	Back       string // the path of the page before, below [Root]
	Refused    *problem
	Plan       *api.RebuildPlan  // of a rebuild
	Confidence string            // the policy of the rebuild; empty for that of the active version
	Stream     string            // in quarantine; empty for all streams
	Streams    []api.Quarantined // that the act is about
}

// operation finds the act of an address.
func operation(p *page) (*operating, error) {
	form := &operating{
		Name: p.r.PathValue("name"), Confidence: p.r.FormValue("confidence"), Stream: p.r.FormValue("stream"),
	}
	var err error
	if form.Act, err = actOf(p, operations()); err != nil {
		return nil, err
	}
	form.Back = "projections/" + url.PathEscape(form.Name)
	if form.Act.OnQuarantine() {
		form.Back += "/quarantine"
	}
	return form, nil
}

// askOperation shows the form of an act on a projection.
func askOperation(p *page) (any, error) {
	form, err := operation(p)
	if err != nil {
		return nil, err
	}
	if !form.Act.isFor(p) {
		title := "This is for admins"
		if form.Act.Root {
			title = "This is for root"
		}
		return nil, &client.Error{Problem: api.Problem{Status: http.StatusForbidden, Title: title}}
	}
	err = form.read(p)
	return form, err
}

// read asks what the act is about.
func (f *operating) read(p *page) (err error) {
	switch {
	case f.Act.Name == "rebuild":
		query := url.Values{}
		if f.Confidence != "" {
			query.Set("confidence", f.Confidence)
		}
		var plan api.RebuildPlan
		if err = p.get(&plan, query, "v1", "projections", f.Name, "rebuild", "plan"); err == nil {
			f.Plan = &plan
		}
	case f.Act.OnQuarantine():
		f.Streams, err = quarantined(p, f.Name, f.Stream)
	default:
		_, err = versionsOf(p, f.Name)
	}
	return err
}

// doOperation does what a form says, and goes back to the page before.
func doOperation(p *page) (any, error) {
	form, err := operation(p)
	if err != nil {
		return nil, err
	}
	request := client.Request{
		Method: form.Act.Method, Path: append([]string{"v1", "projections", form.Name}, form.Act.Path...),
		Query: url.Values{},
	}
	set := func(name, value string) {
		if value != "" {
			request.Query.Set(name, value)
		}
	}
	switch form.Act.Name {
	case "rebuild":
		set("confidence", form.Confidence)
		set("what_if", p.r.PostFormValue("what_if"))
		set("repair", p.r.PostFormValue("repair"))
	case "skip":
		if form.Stream == "" {
			set("all", "true")
		}
		set("stream", form.Stream)
	case "retry":
		set("stream", form.Stream)
	}
	_, err = p.api.Do(p.r.Context(), request, nil)
	switch {
	case isRefused(err):
		form.Refused = problemOf(err)
		if err := form.read(p); err != nil && !errors.Is(err, client.ErrInvalid) {
			return nil, err
		}
		return nil, answer(p, "operate", form, form.Refused.Status)
	case err != nil:
		return nil, err
	}
	return goBack(p, form.Act.Name, form.Back)
}
