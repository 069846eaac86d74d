package serve

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
)

// SearchOf is the query of a request. It maps the domain's field names to the caller's.
func SearchOf(in api.Search, by domain.Principal) (domain.Search, map[string]string) {
	query := domain.Search{
		By: by, Text: in.Query, Vector: in.Vector, Limit: Value(in.Limit),
		MinScore: in.MinScore, Order: domain.Order(in.Order), Explain: in.Explain, Everyone: in.Everyone, Copies: in.Copies,
		Filter: FilterOf(in.Filter),
	}
	if in.Level != nil {
		query.Level = new(domain.Level(*in.Level))
	}
	names := map[string]string{}
	if in.Context != nil {
		query.Context = contextOf(*in.Context, names)
	}
	return query, names
}

// contextOf is the context of the search. It adds the caller's names of its fields to names.
func contextOf(in api.Searcher, names map[string]string) domain.Context {
	context := domain.Context{Given: true}
	eachEntity(in, func(field, kind, id string) {
		names[fmt.Sprintf("context[%d]", len(context.Entities))] = "context." + field
		context.Entities = append(context.Entities, domain.Entity(kind+":"+id))
	})
	return context
}

func eachEntity(in api.Searcher, entity func(field, kind, id string)) {
	one := func(field, kind, id string) {
		if id != "" {
			entity(field, kind, id)
		}
	}
	one("user_id", domain.User, in.UserID)
	one("agent_id", domain.Agent, in.AgentID)
	one("project_id", domain.Project, in.ProjectID)
	one("team_id", domain.Team, in.TeamID)
	one("org_id", domain.Org, in.OrgID)
	for i, id := range in.ProjectIDs {
		entity(fmt.Sprintf("project_ids[%d]", i), domain.Project, id)
	}
	for i, id := range in.TeamIDs {
		entity(fmt.Sprintf("team_ids[%d]", i), domain.Team, id)
	}
	for i, id := range in.OrgIDs {
		entity(fmt.Sprintf("org_ids[%d]", i), domain.Org, id)
	}
}

// NeedOf is the need of a request. It maps the domain's field names to the caller's.
func NeedOf(c *Call, in api.ContextRequest) (domain.Need, map[string]string) {
	n := domain.Need{
		By: c.Principal, Stage: domain.Stage(in.Stage), Failures: in.ToolIssues,
		Tags: domain.Tags(in.Tags), MinScore: in.MinScore, MaxTokens: Value(in.MaxTokens), Shown: in.Shown,
	}
	if in.MaxTokens != nil && *in.MaxTokens == 0 {
		n.MaxTokens = -1 // the caller asked for 0, which is not the default
	}
	about := map[string]string{"task": in.Task, "goal": in.Goal, "query": in.Query}
	for _, field := range []string{"task", "goal", "query"} {
		if slices.Contains(domain.Stages, n.Stage) && field != n.Stage.FieldName() && about[field] != "" {
			c.Found.Add(field, "belongs to another stage: this one is about a %s", n.Stage.FieldName())
		}
	}
	n.About = about[n.Stage.FieldName()]
	names := map[string]string{}
	if in.Context != nil {
		n.Context = contextOf(*in.Context, names)
	}
	return n, names
}

// mostAsked limits the bytes of a request that its receipt keeps. Only vectors and very long questions have more.
const mostAsked = 32 << 10

// Asked is what a receipt keeps of a request for a search or a briefing: its body, so that it can be asked again. Of a
// longer one it is empty.
func Asked(in any) string {
	asked, err := json.Marshal(in)
	if err != nil || len(asked) > mostAsked {
		return ""
	}
	return string(asked)
}
