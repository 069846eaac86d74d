package events

import "github.com/annals-kb/annals/domain"

type scrubbingData struct {
	Off      []string       `json:"off,omitempty"`
	Patterns []scrubPattern `json:"patterns,omitempty"`
}

type scrubPattern struct {
	Class      string `json:"class"`
	Expression string `json:"expression"`
}

func splitScrubbingChanged(f domain.ScrubbingChanged) scrubbingData {
	d := scrubbingData{Off: f.Rules.Off}
	for _, p := range f.Rules.Patterns {
		d.Patterns = append(d.Patterns, scrubPattern(p))
	}
	return d
}

func joinScrubbingChanged(d scrubbingData) domain.ScrubbingChanged {
	rules := domain.Scrubbing{Off: d.Off}
	for _, p := range d.Patterns {
		rules.Patterns = append(rules.Patterns, domain.ScrubPattern(p))
	}
	return domain.ScrubbingChanged{Rules: rules}
}
