package domain

import (
	"fmt"
	"net/url"
	"slices"
	"time"
)

func checkEntity(p *Problems, field string, e Entity) {
	if _, err := ParseEntity(string(e)); err != nil {
		p.Add(field, "%s", err)
	}
}

func checkScopes(p *Problems, scopes []Scope) {
	if len(scopes) < 1 || len(scopes) > maxScopes {
		p.Add("scopes", "must name 1 to %d scopes, names %d", maxScopes, len(scopes))
	}
	seen := map[Scope]bool{}
	for i, scope := range scopes {
		if _, err := ParseScope(string(scope)); err != nil {
			p.Add(fmt.Sprintf("scopes[%d]", i), "%s", err)
		} else if seen[scope] {
			p.Add(fmt.Sprintf("scopes[%d]", i), "is named twice")
		}
		seen[scope] = true
	}
}

func checkVisibility(p *Problems, claimed Visibility, scopes []Scope, owner Entity) {
	if claimed == "" {
		return
	}
	oneOf(p, "visibility", claimed, visibilities, true)
	if derived := VisibilityOf(scopes, owner); slices.Contains(visibilities, claimed) && claimed != derived {
		p.Add("visibility", "contradicts the scopes, which make it %s", derived)
	}
}

func checkOrigins(p *Problems, ids []string) {
	if len(ids) > maxOrigins {
		p.Add("derived_from", "must name at most %d events, names %d", maxOrigins, len(ids))
	}
	for i, id := range ids {
		checkEventID(p, fmt.Sprintf("derived_from[%d]", i), id)
	}
}

func checkSource(p *Problems, s Source) {
	atMost(p, "source.name", s.Name, maxName)
	atMost(p, "source.category", s.Category, maxName)
	atMost(p, "source.agent_id", s.AgentID, maxName)
	atMost(p, "source.submitted_by", s.SubmittedBy, maxName)
	checkTrace(p, "source.trace_id", s.TraceID)
	if len(s.URLs) > maxURLs {
		p.Add("source.urls", "must be at most %d, are %d", maxURLs, len(s.URLs))
	}
	for i, address := range s.URLs {
		field := fmt.Sprintf("source.urls[%d]", i)
		atMost(p, field, address, maxURL)
		if parsed, err := url.Parse(address); err != nil || parsed.Scheme == "" {
			p.Add(field, "must be an absolute URL")
		}
	}
	if s.Timestamp == "" {
		return
	}
	layout := time.RFC3339
	if len(s.Timestamp) == len(time.DateOnly) {
		layout = time.DateOnly
	}
	if _, err := time.Parse(layout, s.Timestamp); err != nil {
		p.Add("source.timestamp", "must be a time (RFC 3339) or a date (YYYY-MM-DD)")
	}
}

func checkEval(p *Problems, e *Eval) {
	if e == nil {
		return
	}
	const most = 1_000_000_000
	if e.Helpful < 0 || e.Helpful > most {
		p.Add("eval.helpful", "must be 0 to %d", most)
	}
	if e.Harmful < 0 || e.Harmful > most {
		p.Add("eval.harmful", "must be 0 to %d", most)
	}
	if !(e.Confidence >= 0 && e.Confidence <= 1) {
		p.Add("eval.confidence", "must be 0 to 1")
	}
	checkHistory(p, "eval.helpful_history", e.HelpfulHistory)
	checkHistory(p, "eval.harmful_history", e.HarmfulHistory)
}

func checkHistory(p *Problems, field string, uses []Use) {
	if len(uses) > maxHistory {
		p.Add(field, "must have at most %d entries, has %d", maxHistory, len(uses))
	}
	for i, use := range uses {
		at := fmt.Sprintf("%s[%d]", field, i)
		atMost(p, at+".query", use.Query, maxReason)
		atMost(p, at+".outcome", use.Outcome, maxReason)
		checkTrace(p, at+".trace_id", use.TraceID)
		if use.By != "" {
			checkEntity(p, at+".by", use.By)
		}
	}
}
