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

// start is the first page: what the reader has to decide, what is new to them, and how the service is.
type start struct {
	health
	Review *review
	New    []api.Knowledge // of others, since the last visit
	Since  time.Time       // the last visit
	Events []api.Event     // the newest of people and their agents
	Counts *api.Overview   // nil in the past
}

const (
	mostFeed     = 5
	visitCookie  = "annals-visit" // when a visit began, and the one before
	betweenVisit = time.Hour
)

func home(p *page) (any, error) {
	var data start
	var err error
	if data.Review, err = reviewOf(p, p.param("item")); err != nil || p.r.Header.Get("HX-Request") != "" {
		return &data, err // a script asks for the review alone
	}
	if err := data.read(p); err != nil {
		return nil, err
	}
	recent, _, err := pageOf[api.Event](p, p.Moment.newestEvents(100), "v1", "events")
	if err != nil {
		return nil, err
	}
	data.Events = feedOf(p, recent)
	if p.Moment.Past() || p.Moment.HeadPosition == 0 {
		return &data, nil
	}
	var counts api.Overview
	if err := p.get(&counts, nil, "v1", "overview"); err != nil {
		return nil, err
	}
	data.Counts = &counts
	return &data, data.news(p)
}

// feedOf are the newest events of people and agents about items that the reader may open, and one of each session.
func feedOf(p *page, recent []api.Event) (feed []api.Event) {
	items, seen := map[string]string{}, map[string]bool{}
	for _, event := range recent {
		if id, is := domain.ItemOf(event.Stream); is && len(items) < mostNames {
			items[id] = ""
		}
	}
	for _, k := range ask[api.Knowledge](p, items, "id", "v1", "knowledge") {
		items[k.ID] = k.URI
	}
	for _, event := range recent {
		id, isItem := domain.ItemOf(event.Stream)
		told := isItem && items[id] != "" || domain.SessionStreams.Has(event.Stream) && !seen[event.Stream]
		if told && !isOfServer(event) && len(feed) < mostFeed {
			feed, seen[event.Stream] = append(feed, event), true
		}
	}
	return feed
}

// Teams are the groups of the reader.
func (p *page) Teams() []string {
	teams := slices.Clone(p.Caller.Memberships)
	for _, of := range p.Caller.Groups {
		teams = append(teams, of.Group)
	}
	slices.Sort(teams)
	return slices.Compact(teams)
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
	query := url.Values{"created_from": {s.Since.UTC().Format(time.RFC3339)}, "limit": {"40"}}
	found, _, err := pageOf[api.Knowledge](p, query, "v1", "knowledge")
	reached := append([]string{"public", p.Caller.Subject, p.Caller.OnBehalfOf}, p.Teams()...)
	meant := func(scope string) bool { return slices.Contains(reached, scope) }
	for _, k := range found {
		if k.Owner != p.Caller.Subject && slices.ContainsFunc(k.Scopes, meant) && len(s.New) < 5 {
			s.New = append(s.New, k)
		}
	}
	return err
}
