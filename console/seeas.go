package console

import (
	"slices"

	"github.com/annals-kb/annals/api"
)

// seeAs is what an agent would get at a moment of its work.
type seeAs struct {
	Moments []workMoment
	Chosen  workMoment
	Answer  *api.ContextAnswer // nil if nothing was asked
	Refused *problem
}

// Entities are for whom the agent may work.
func (*seeAs) Entities() []field { return searchers() }

// workMoment is a moment of an agent's work.
type workMoment struct{ Stage, Label string }

func workMoments() []workMoment {
	return []workMoment{
		{"start", "At the start of a task"},
		{"focus", "When a goal is chosen"},
		{"query", "At a question of the user"},
		{"analysis", "After a failure"},
	}
}

// showAs asks for the injection of an agent.
func showAs(p *page) (any, error) {
	data := &seeAs{Moments: workMoments()}
	data.Chosen = data.Moments[0]
	if i := slices.IndexFunc(data.Moments, func(m workMoment) bool { return m.Stage == p.param("stage") }); i >= 0 {
		data.Chosen = data.Moments[i]
	} else {
		return data, nil
	}
	said := p.param("said")
	asked := api.ContextRequest{Stage: data.Chosen.Stage, Context: searcherOf(p)}
	switch asked.Stage {
	case "start":
		asked.Task = said
	case "focus":
		asked.Goal = said
	case "query":
		asked.Query = said
	case "analysis":
		asked.ToolIssues = linesOf(unixLines(said))
	}
	var got api.ContextAnswer
	err := p.post(asked, &got, "v1", "context")
	if isRefused(err) {
		data.Refused = problemOf(err)
		return nil, answer(p, "seeas", data, data.Refused.Status)
	}
	data.Answer = &got
	return data, err
}
