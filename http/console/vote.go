package console

import (
	"cmp"
	"net/http"
	"net/url"
	"strings"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// today stands for the event of a vote that had been given before on the same day.
const today = "today"

// vote gives a vote, or takes one back, and answers with what the reader may do next, or leads back to their page. The
// address of that page then has the item and the event of the vote, which is how it is taken back.
func vote(p *page) (any, error) {
	id, next := p.r.PathValue("id"), localPath(p.r.PostFormValue("next"))
	request := client.Post(api.Vote{Verdict: p.r.PostFormValue("verdict")}, "v1", "knowledge", id, "feedback")
	undoes := p.r.PostForm.Has("undo")
	if undoes {
		request.Method, request.Body = http.MethodDelete, nil
		if event := p.r.PostFormValue("undo"); event != today {
			request.Query = url.Values{"event_id": {event}}
		}
	}
	var k api.Knowledge
	given, told := "", "Your vote is taken back."
	answer, err := p.write(request, &k)
	if err == nil && !undoes {
		given, told = cmp.Or(answer.Header.Get("Annals-Events"), today), ""
	}
	if p.r.Header.Get("HX-Request") != "" {
		data := map[string]any{"p": p, "k": &k, "given": given, "told": told, "next": next}
		if isRefused(err) {
			k.ID, k.Status = id, "active"
			data["refused"], data["told"], err = problemOf(err), "", nil
		}
		return data, err
	}
	if err != nil {
		return nil, err
	}
	address, err := url.Parse(next)
	if err != nil {
		return nil, err
	}
	query := address.Query()
	if query.Del("voted"); given != "" {
		query.Set("voted", given+"/"+id)
	}
	address.RawQuery = query.Encode()
	http.Redirect(p.w, p.r, address.String(), http.StatusSeeOther)
	return nil, errAnswered
}

// Given is the event of the vote on an item that the reader has just given without a script; empty if there is none.
func (p *page) Given(id string) string {
	if event, of, _ := strings.Cut(p.param("voted"), "/"); of == id {
		return event
	}
	return ""
}
