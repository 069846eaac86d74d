package console

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// start is the first page: what the reader has to do, what is new to them, and how the service is.
type start struct {
	health
	Waiting api.Reviews     // that wait for the reader
	New     []api.Knowledge // of others, since the last visit
	Since   time.Time       // the last visit
	Events  []api.Event     // the newest of people and their agents
	Server  []api.Event     // those of the server among the newest
	Counts  *api.Overview   // nil in the past
}

// Superseded is how many items are superseded.
func (s *start) Superseded() int {
	for _, count := range s.Counts.Statuses.Counts {
		if count.Value == "superseded" {
			return count.Items
		}
	}
	return 0
}

const (
	mostFeed     = 12
	visitCookie  = "annals-visit" // when a visit began, and the one before
	betweenVisit = time.Hour
)

func home(p *page) (any, error) {
	var data start
	if err := data.read(p); err != nil {
		return nil, err
	}
	recent, _, err := pageOf[api.Event](p, p.Moment.newestEvents(4*mostFeed), "v1", "events")
	if err != nil {
		return nil, err
	}
	for _, event := range recent {
		switch {
		case isOfServer(event):
			data.Server = append(data.Server, event)
		case len(data.Events) < mostFeed:
			data.Events = append(data.Events, event)
		}
	}
	if p.Moment.Past() || len(recent) == 0 {
		return &data, nil
	}
	if err := p.get(&data.Waiting, url.Values{"limit": {"5"}, "mine": {"true"}}, "v1", "reviews"); err != nil {
		return nil, err
	}
	var counts api.Overview
	if err := p.get(&counts, nil, "v1", "overview"); err != nil {
		return nil, err
	}
	data.Counts = &counts
	return &data, data.news(p)
}

// isOfServer tells whether the server did something by itself.
func isOfServer(event api.Event) bool { return event.Actor == string(domain.SystemPrincipal().Subject) }

// news reads what others have remembered for the reader since the last visit, or in the last week. What the reader may
// read by their role alone is not for them.
func (s *start) news(p *page) error {
	s.Since = p.Now.AddDate(0, 0, -7)
	began := p.Now
	if cookie, err := p.r.Cookie(visitCookie); err == nil {
		this, before, _ := strings.Cut(cookie.Value, "_")
		last, err := time.Parse(time.RFC3339, this)
		if earlier, also := time.Parse(time.RFC3339, before); err == nil && also == nil {
			if s.Since = last; p.Now.Sub(last) < betweenVisit { // the same visit goes on
				s.Since, began = earlier, last
			}
		}
	}
	setCookie(p.w, p.r, http.Cookie{
		Name: visitCookie, Path: Root, MaxAge: 365 * 24 * 3600,
		Value: began.UTC().Format(time.RFC3339) + "_" + s.Since.UTC().Format(time.RFC3339),
	})
	query := url.Values{"created_from": {s.Since.UTC().Format(time.RFC3339)}, "limit": {"100"}}
	found, _, err := pageOf[api.Knowledge](p, query, "v1", "knowledge")
	reached := append([]string{"public", p.Caller.Subject, p.Caller.OnBehalfOf}, p.Caller.Memberships...)
	for _, of := range p.Caller.Groups {
		reached = append(reached, of.Group)
	}
	meant := func(scope string) bool { return slices.Contains(reached, scope) }
	for _, k := range found {
		if k.Owner != p.Caller.Subject && slices.ContainsFunc(k.Scopes, meant) && len(s.New) < 5 {
			s.New = append(s.New, k)
		}
	}
	return err
}
