package knowledge

import "github.com/annals-kb/annals/api"

// audience are the flags that say for whom something is searched.
type audience struct {
	User    string   `field:"context.user_id" placeholder:"ID" help:"For whom, whoever asks (--as): their own knowledge, and what is public, and nearest what is theirs."`
	Agent   string   `field:"context.agent_id" placeholder:"ID" help:"By which agent."`
	Project []string `field:"context.project_ids" placeholder:"ID" help:"In which project. Repeat for more."`
	Team    []string `field:"context.team_ids" placeholder:"ID" help:"In which team. Repeat for more."`
	Org     string   `field:"context.org_id" placeholder:"ID" help:"In which organisation."`
}

// context is nil if nobody was named.
func (a audience) context() *api.Searcher {
	if a.User+a.Agent+a.Org == "" && len(a.Project)+len(a.Team) == 0 {
		return nil
	}
	return &api.Searcher{UserID: a.User, AgentID: a.Agent, ProjectIDs: a.Project, TeamIDs: a.Team, OrgID: a.Org}
}
