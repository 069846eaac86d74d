package knowledge

import "github.com/annals-kb/annals/api"

// audience are the flags that say for whom something is searched.
type audience struct {
	User    string   `field:"context.user_id" placeholder:"ID"`
	Agent   string   `field:"context.agent_id" placeholder:"ID"`
	Project []string `field:"context.project_ids" placeholder:"ID"`
	Team    []string `field:"context.team_ids" placeholder:"ID"`
	Org     string   `field:"context.org_id" placeholder:"ID"`
}

// context is nil if nobody was named.
func (a audience) context() *api.Searcher {
	if a.User+a.Agent+a.Org == "" && len(a.Project)+len(a.Team) == 0 {
		return nil
	}
	return &api.Searcher{UserID: a.User, AgentID: a.Agent, ProjectIDs: a.Project, TeamIDs: a.Team, OrgID: a.Org}
}
