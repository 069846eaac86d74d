package reports

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

const (
	mostExperts  = 100 // and items about a subject
	usualExperts = 20
	mostSubjects = 12 // and people beside them
	mostGroups   = 10 // of a member, whose items are classified
)

func (s reports) expertiseRoutes() {
	serve.Handle(s.api, huma.Operation{
		OperationID: "find-experts", Method: http.MethodGet, Path: "/v1/expertise", Tags: []string{"Reports"},
		Summary: "List who knows about a subject",
		Description: "The users who wrote what a search for the words finds, confirmed it, or were thanked for it. The " +
			"best 100 items count that you may see.",
		Errors: []int{http.StatusBadRequest},
	}, s.experts)
	serve.Handle(s.api, huma.Operation{
		OperationID: "map-subjects", Method: http.MethodGet, Path: "/v1/expertise/subjects", Tags: []string{"Reports"},
		Summary: "Say who wrote about which subjects",
		Description: "Of a group: the items that reach it. Of a member: what it owns, and what reaches the groups to which " +
			"it belongs directly, at most 10. The newest 1,000 items count that you may see.",
		Errors: []int{http.StatusBadRequest},
	}, s.subjects)
}

type expertsInput struct {
	Query string        `query:"q" required:"true" example:"kafka" doc:"The subject, in words."`
	Scope string        `query:"scope" doc:"Only items that reach it: a scope such as team:pay or public."`
	Limit serve.Integer `query:"limit" doc:"At most so many users: 1 to 100. Default: 20."`
	visible.Waiting
}

// experts searches for a subject, and sums up who wrote what was found.
func (s reports) experts(
	ctx context.Context, c *serve.Call, in *expertsInput,
) (*serve.Output[api.Expertise], error) {
	limit := cmp.Or(int(in.Limit.Read(&c.Found, "limit", 1, mostExperts)), usualExperts)
	query, err := domain.Search{
		By: c.Principal, Text: in.Query, Limit: mostExperts, Copies: true,
		Filter: domain.Filter{Scope: domain.Scope(in.Scope)},
	}.Complete()
	if err := serve.Merge(c.Found, serve.Renamed(err, map[string]string{"query": "q"})); err != nil {
		return nil, err
	}
	if err := s.events.Items.Await(ctx, c, in.Waiting, true); err != nil {
		return nil, err
	}
	found, err := s.reader.Search(ctx, query)
	if err != nil {
		return nil, err
	}
	contributions, err := s.reporter.Contributions(ctx, c.Principal.Tenant, aboutIt(found.Hits))
	if err != nil {
		return nil, err
	}
	people, err := s.peopleIn(ctx, c.Principal.Tenant, contributions)
	if err != nil {
		return nil, err
	}
	experts := domain.ExpertsOf(contributions, people.deactivated)
	out := api.Expertise{Items: serve.Map(experts[:min(limit, len(experts))], func(e domain.Expert) api.Expert {
		return api.Expert{
			Subject: string(e.User), Name: people[e.User].DisplayName, Wrote: e.Wrote, Confirmed: e.Confirmed,
			Thanked: e.Thanked, Last: serve.Time(e.Last), Active: e.Active, Alone: e.Alone,
		}
	})}
	return &serve.Output[api.Expertise]{Body: out}, nil
}

// aboutIt are the ids of the hits that are surely about the question; without any, of those that have its words.
func aboutIt(hits []domain.Found) (ids []string) {
	for _, h := range hits {
		if h.Band == domain.Sure || hits[0].Band != domain.Sure && h.Lexical > 0 {
			ids = append(ids, h.ID)
		}
	}
	return ids
}

// directory is what the directory says of some users.
type directory map[domain.Entity]domain.DirectoryMember

func (d directory) deactivated(user domain.Entity) bool { return !d[user].DeactivatedAt.IsZero() }

// peopleIn are the users of contributions whom the directory knows.
func (s reports) peopleIn(ctx context.Context, tenant string, all []domain.Contribution) (directory, error) {
	var users []domain.Entity
	for _, one := range all {
		users = append(users, one.User)
	}
	slices.Sort(users)
	return s.members(ctx, tenant, slices.Compact(users)...)
}

func (s reports) members(ctx context.Context, tenant string, some ...domain.Entity) (directory, error) {
	people := directory{}
	if s.names == nil || len(some) == 0 {
		return people, nil
	}
	members, err := s.names.Known(ctx, tenant, some)
	for _, m := range members {
		people[m.Member] = m
	}
	return people, err
}

type subjectsInput struct {
	Group  string `query:"group" example:"team:pay" doc:"A group such as team:pay. Needed without member."`
	Member string `query:"member" example:"user:mia" doc:"A user such as user:mia."`
}

// subjects says who wrote about the subjects of a group or of a member.
func (s reports) subjects(
	ctx context.Context, c *serve.Call, in *subjectsInput,
) (*serve.Output[api.SubjectMap], error) {
	group, member := serve.Entity(&c.Found, "group", in.Group), serve.Entity(&c.Found, "member", in.Member)
	if (group == "") == (member == "") && len(c.Found) == 0 {
		c.Found.Add("group", "or member is needed, and not both")
	}
	if err := c.Found.Err(); err != nil {
		return nil, err
	}
	filters := []domain.Filter{{Scope: domain.Scope(group)}}
	if member != "" {
		known, err := s.members(ctx, c.Principal.Tenant, member)
		if err != nil {
			return nil, err
		}
		groups := known[member].Groups
		filters = []domain.Filter{{Owner: member}}
		for _, m := range groups[:min(len(groups), mostGroups)] {
			filters = append(filters, domain.Filter{Scope: domain.Scope(m.Group)})
		}
	}
	items, err := s.reporter.Classify(ctx, c.Principal, filters...)
	if err != nil {
		return nil, err
	}
	contributions, err := s.reporter.Contributions(ctx, c.Principal.Tenant, slices.Collect(maps.Keys(items.Items)))
	if err != nil {
		return nil, err
	}
	people, err := s.peopleIn(ctx, c.Principal.Tenant, contributions)
	if err != nil {
		return nil, err
	}
	return &serve.Output[api.SubjectMap]{Body: mapped(items, contributions, people, member)}, nil
}

// mapped counts the contributions by user and subject.
func mapped(
	items domain.Classified, contributions []domain.Contribution, people directory, member domain.Entity,
) api.SubjectMap {
	wrote, counts := map[string]map[domain.Entity]int{}, map[string]int{} // by subject
	for _, subjects := range items.Items {
		for _, subject := range subjects {
			counts[subject]++
			wrote[subject] = map[domain.Entity]int{}
		}
	}
	for _, one := range contributions {
		for _, subject := range items.Items[one.Item] {
			if one.Wrote {
				wrote[subject][one.User]++
			}
		}
	}
	if member != "" {
		maps.DeleteFunc(counts, func(subject string, _ int) bool { return wrote[subject][member] == 0 })
	}
	out := api.SubjectMap{Kind: string(items.Kind), Subjects: []api.Subject{}, People: []api.SubjectWriter{}}
	subjects, sums := domain.FacetOf(counts).Counts, map[domain.Entity]int{}
	for _, count := range subjects[:min(len(subjects), mostSubjects)] {
		out.Subjects = append(out.Subjects, api.Subject{
			Name: count.Value, Items: count.Items, Alone: string(aloneIn(wrote[count.Value], people)),
		})
		for user, n := range wrote[count.Value] {
			sums[user] += n
		}
	}
	users := slices.SortedFunc(maps.Keys(sums), func(a, b domain.Entity) int {
		switch member {
		case a:
			return -1
		case b:
			return 1
		}
		return cmp.Or(cmp.Compare(sums[b], sums[a]), cmp.Compare(a, b))
	})
	for _, user := range users[:min(len(users), mostSubjects)] {
		out.People = append(out.People, api.SubjectWriter{
			Subject: string(user), Name: people[user].DisplayName, Active: !people.deactivated(user),
			Counts: serve.Map(out.Subjects, func(subject api.Subject) int { return wrote[subject.Name][user] }),
		})
	}
	return out
}

// aloneIn is the only active user of some; empty for none or several.
func aloneIn(wrote map[domain.Entity]int, people directory) (alone domain.Entity) {
	for user := range wrote {
		switch {
		case people.deactivated(user):
		case alone != "":
			return ""
		default:
			alone = user
		}
	}
	return alone
}
