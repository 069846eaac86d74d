package console

import (
	"net/url"
	"strconv"

	"github.com/annals-kb/annals/http/api"
)

// moment is the state of the log that a page shows.
type moment struct {
	api.Moment
	AsOf string // as the address has it; empty for now
	// What the address has, and what is wrong with it, if there is no such moment.
	Input string
	Wrong []string
}

// Past tells whether the page shows an earlier state. Then it has no forms that write.
func (m moment) Past() bool { return m.AsOf != "" }

// TimeMachine tells whether the page has a time bar: if it can show the past, and if it is asked to.
func (p *page) TimeMachine() bool {
	dated := p.In("", "search", "knowledge", "k", "log", "scopes", "review", "people", "reports")
	return p.Caller != nil && !p.Here("reports/known") &&
		(dated && p.r.PathValue("act") == "" || p.Moment.Past() || p.Moment.Wrong != nil)
}

// Step is a position some events away, within the log.
func (m moment) Step(by int64) string {
	return strconv.FormatInt(min(max(m.Position+by, 1), m.HeadPosition), 10)
}

// newestEvents asks for so many of the newest events, in the past those up to the moment.
func (m moment) newestEvents(limit int) url.Values {
	query := url.Values{"order": {"desc"}, "limit": {strconv.Itoa(limit)}}
	if m.Past() && m.Position < m.HeadPosition {
		query.Set("after", strconv.FormatInt(m.Position+1, 10)) // descending, it means before
	}
	return query
}

// readMoment resolves as_of, a position or a time. A caller who may not know the log's positions sees the present.
func (p *page) readMoment() error {
	p.Moment.AsOf = p.param("as_of")
	query := url.Values{}
	if p.Moment.AsOf != "" {
		query.Set("as_of", p.Moment.AsOf)
	}
	return p.get(&p.Moment.Moment, query, "v1", "log", "moment")
}

// noMoment shows that there is no such moment, with the form to correct it. The page shows no other moment instead.
func noMoment(p *page, err error) error {
	input := p.Moment.AsOf
	p.Moment.AsOf = ""
	refused := problemOf(err)
	if !isRefused(err) || input == "" {
		return err
	}
	if now := p.get(&p.Moment.Moment, nil, "v1", "log", "moment"); now != nil {
		return now
	}
	p.Moment.Input = input
	p.Query.Del("as_of") // no link leads back here
	for _, bad := range refused.Fields {
		p.Moment.Wrong = append(p.Moment.Wrong, bad.Message)
	}
	return answer(p, "nomoment", nil, refused.Status)
}

// asOf adds the moment to a request's query.
func (p *page) asOf(query url.Values) url.Values {
	if query == nil {
		query = url.Values{}
	}
	if p.Moment.Past() {
		query.Set("as_of", p.Moment.AsOf)
	}
	return query
}
