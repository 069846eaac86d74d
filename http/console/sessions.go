package console

import (
	"net/http"
	"net/url"
	"slices"

	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/client"
)

// sessionList are the sessions of an owner, and the newest extractions of all that the caller may see.
type sessionList struct {
	Owner    string
	Sessions []api.Session
	Next     string // the cursor of the next page
	Tasks    []api.Task
}

func listSessions(p *page) (any, error) {
	data := &sessionList{Owner: p.param("owner")}
	query := p.params("owner", "cursor")
	query.Set("limit", "50")
	var err error
	if data.Sessions, data.Next, err = pageOf[api.Session](p, query, "v1", "sessions"); err != nil {
		return nil, err
	}
	data.Tasks, _, err = pageOf[api.Task](p, url.Values{"limit": {"20"}}, "v1", "tasks")
	return data, err
}

// sessionPage is a session, and what was learned from each of its archives, newest first.
type sessionPage struct {
	api.Session
	Tasks   []api.Task
	Refused *problem
}

// Failed tells whether an extraction can be tried again.
func (s *sessionPage) Failed() bool {
	return slices.ContainsFunc(s.Tasks, func(t api.Task) bool { return t.Status == "failed" })
}

// decisionLabels are what became of the lessons of an extraction.
func decisionLabels() map[string]string {
	return map[string]string{
		"create": "created", "merge": "changed", "supersede": "superseded", "vote": "confirmed by a vote", "skip": "skipped",
	}
}

// Decision says what became of a lesson.
func (s *sessionPage) Decision(name string) string { return decisionLabels()[name] }

func readSession(p *page) (any, error) {
	data := &sessionPage{}
	id, query := p.r.PathValue("id"), p.params("owner")
	if err := p.get(&data.Session, query, "v1", "sessions", id); err != nil {
		return nil, err
	}
	query.Set("session", id)
	query.Set("limit", "100")
	var err error
	data.Tasks, _, err = pageOf[api.Task](p, query, "v1", "tasks")
	return data, err
}

// retryExtraction tries the failed extractions of a session again.
func retryExtraction(p *page) (any, error) {
	id, query := p.r.PathValue("id"), p.params("owner")
	request := client.Post(api.ExtractionRetry{}, "v1", "sessions", id, "retry")
	request.Query = query
	_, err := p.write(request, nil)
	if isRefused(err) {
		found, readErr := readSession(p)
		data, is := found.(*sessionPage)
		if !is {
			return nil, readErr
		}
		data.Refused = problemOf(err)
		return nil, answer(p, "session", data, http.StatusConflict)
	}
	if err != nil {
		return nil, err
	}
	return goBack(p, "extract", "sessions/"+url.PathEscape(id)+encode(query))
}
