package console

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

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
	done, item := number(query, "done"), ""
	if act == "revise" {
		item = id
	} else if act != "" {
		done++
	}
	return pathOf(query) + encode(query, "act", act, "id", id, "item", item, "done", strconv.Itoa(done), "from", "")
}

// doReview does one of the acts that need no form of their own, or undoes the last one. It does nothing about what was
// decided since the reader saw it, and says so.
func doReview(p *page) (any, error) {
	act, id := p.r.PostFormValue("act"), p.r.PostFormValue("id")
	form := p.r.PostForm
	if stays := cmp.Or(form.Get("stays"), form.Get("merged")); stays != "" {
		act, id = "merge", stays
	}
	request := reviewRequest(p, form, act, id)
	if len(request.Path) == 0 {
		return nil, notFound(p)
	}
	since, err := decidedSince(p, form)
	if err != nil {
		return nil, err
	}
	if len(since) > 0 {
		return nil, overtaken(p, id, since, &problem{Status: http.StatusConflict, Title: "Somebody was faster"})
	}
	if _, err = p.write(request, nil); errors.Is(err, client.ErrOvertaken) || isRefused(err) {
		if since, failed := decidedSince(p, form); failed == nil {
			return nil, overtaken(p, id, since, problemOf(err))
		}
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

// reviewRequest is what an act asks of the API; without a path if there is no such act.
func reviewRequest(p *page, form url.Values, act, id string) client.Request {
	request := client.Post(api.Reason{Reason: form.Get("reason")}, "v1", "knowledge", id, act)
	request.Header = http.Header{}
	if revision := form.Get("revision"); revision != "" {
		request.Header.Set("If-Match", strconv.Quote(revision))
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
		request = pairRequest(form, act, id)
	}
	if once := form.Get("once"); once != "" {
		if request.Header == nil {
			request.Header = http.Header{}
		}
		request.Header.Set("Annals-Correlation-Id", once)
	}
	return request
}

// decidedSince are the decisions about the items and the proposals of a form after the reader saw them, without what
// the same form has done when it was sent before.
func decidedSince(p *page, form url.Values) ([]api.Event, error) {
	if form.Get("seen") == "" {
		return nil, nil
	}
	query := url.Values{"after": {form.Get("seen")}, "limit": {"500"}, "name": {
		"knowledge.confirmed", "knowledge.superseded", "knowledge.merged", "knowledge.unmerged", "knowledge.deleted",
		"knowledge.restored", "knowledge.accepted", "knowledge.revised", "knowledge.erased", "review.closed",
	}}
	events, _, err := pagesOf[api.Event](p, 2, query, "v1", "events")
	return slices.DeleteFunc(events, func(e api.Event) bool {
		proposed := func(id string) bool { return domain.ProposalStreams.Of(id) == e.Stream }
		item, _ := domain.ItemOf(e.Stream)
		return !slices.Contains(form["id"], item) && !slices.ContainsFunc(form["proposal"], proposed) ||
			e.CorrelationID != "" && e.CorrelationID == form.Get("once")
	}), err
}

// overtaken shows why an act did not happen, and what was typed for it: in its form if the item still waits.
func overtaken(p *page, id string, since []api.Event, why *problem) error {
	v, err := reviewOf(p, id)
	if err != nil {
		return err
	}
	v.Act, v.ID, v.Since, v.Refused = "", "", since, why
	reason, content := p.r.PostFormValue("reason"), unixLines(p.r.PostFormValue("content"))
	if v.Current != nil && isAbout(*v.Current, id) {
		v.Reason, v.Content = reason, cmp.Or(content, v.Content)
	} else {
		v.Kept = slices.DeleteFunc([]string{reason, content}, func(s string) bool { return s == "" })
	}
	return answer(p, "review", v, why.Status)
}
