package people

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/http/visible"
)

// Directory answers who the members of tenants are, and which groups they belong to.
type Directory interface {
	// Belongings are the entry and the groups of a member, whose key or token states more groups.
	Belongings(
		ctx context.Context, tenant string, member domain.Entity, stated []domain.Entity,
	) (domain.Belongings, error)
	// Members lists up to limit members of a kind after a member, in order of their names.
	Members(
		ctx context.Context, tenant, kind string, after domain.Entity, limit int,
	) ([]domain.DirectoryMember, error)
	// Known are those of some members that the directory has, in order of their names.
	Known(ctx context.Context, tenant string, some []domain.Entity) ([]domain.DirectoryMember, error)
	// InGroup lists the direct members of a group, in order of their names.
	InGroup(ctx context.Context, tenant string, group domain.Entity) ([]domain.DirectoryMember, error)
	// Name adds the display names and external ids of members.
	Name(ctx context.Context, tenant string, members []domain.DirectoryMember) error
}

// Keys lists the keys of a tenant.
type Keys interface {
	Issued(ctx context.Context, tenant string) ([]domain.IssuedKey, error)
}

// Items counts what a member owns.
type Items interface {
	Count(ctx context.Context, by domain.Principal, filter domain.Filter) (domain.Counts, error)
}

// members answers requests about the members of a tenant and their groups.
type members struct {
	api       *serve.API
	directory Directory
	keys      Keys // nil without any
	items     Items
}

const memberPath = "/v1/directory/{member}"

// Room is the operations on members. The directory and the keys may be nil.
type Room struct {
	Directory Directory
	Keys      Keys
	Items     Items
}

// Routes registers the operations.
func (r Room) Routes(a *serve.API, _ visible.Events) {
	s := members{a.Requiring(r.Directory, "this server keeps no directory"), r.Directory, r.Keys, r.Items}
	tags := a.Tags("Directory", "Members, and the groups to which they belong.")
	serve.Lookup(s.api, huma.Operation{
		OperationID: "list-members", Method: http.MethodGet, Path: "/v1/directory", Tags: tags,
		Summary: "List the members of a kind", Description: "In the order of their names.",
		Errors: []int{http.StatusBadRequest},
	}, s.list)
	serve.Lookup(s.api, huma.Operation{
		OperationID: "find-member", Method: http.MethodGet, Path: memberPath, Tags: tags,
		Summary:     "Read a member, and what it belongs to",
		Description: "With the groups that it belongs to through others. A group comes with its direct members.",
		Errors:      []int{http.StatusNotFound},
	}, s.find)
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "put-member", Method: http.MethodPut, Path: memberPath, Tags: tags,
		Summary: "Add a member, or give it another display name", Description: "For admins.",
	}, s.put)
	for _, again := range []bool{false, true} {
		operation := huma.Operation{
			OperationID: "deactivate-member", Method: http.MethodPost, Path: memberPath + "/deactivate", Tags: tags,
			Summary: "Deactivate a member",
			Description: "At once it may do nothing, and belongs to nothing. Its keys are revoked. What it recorded and owns " +
				"stays: the answer counts what it owns, and acts on knowledge transfer it. For admins.",
			RequestBody: serve.JSONBody[api.Reason](s.api, false), Errors: serve.NamedErrors,
		}
		if again {
			operation.OperationID, operation.Path = "reactivate-member", memberPath+"/reactivate"
			operation.Summary = "End a deactivation"
			operation.Description = "It belongs to its groups again. Its keys stay revoked. For admins."
		}
		serve.Handle(s.api, operation, s.deactivate(again))
	}
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "join-group", Method: http.MethodPut, Path: memberPath + "/groups/{group}", Tags: tags,
		Summary: "Make a member part of a group, or change its role there",
		Description: "With its next request it reads and writes what the group may. A group may belong to groups. For " +
			"admins and the group's maintainers.",
	}, s.join)
	serve.HandleBody(s.api, false, huma.Operation{
		OperationID: "leave-group", Method: http.MethodDelete, Path: memberPath + "/groups/{group}", Tags: tags,
		Summary: "End a member's part in a group", Description: "For admins, the group's maintainers, and the member itself.",
	}, s.leave)
}

type memberInput struct {
	Member string `path:"member" example:"user:mia" doc:"An entity: user:ID, agent:ID, project:ID, team:ID or org:ID."`
}

type groupInput struct {
	Member string `path:"member" example:"user:mia" doc:"An entity: user:ID, agent:ID, project:ID, team:ID or org:ID."`
	Group  string `path:"group" example:"team:pay" doc:"project:ID, team:ID or org:ID."`
}

type membersInput struct {
	Kind   string   `query:"kind" enum:"user,agent,project,team,org" doc:"Of the members. Needed without member."`
	Member []string `query:"member,explode" example:"user:mia" doc:"Only these, at most 500; those that are not known are left out."`
	Search string   `query:"q" example:"chen" doc:"Only members whose id or display name contains it, in any case."`

	serve.Paging
}

func (s members) list(ctx context.Context, c *serve.Call, in *membersInput) (out api.Page[api.Member], err error) {
	limit, question := in.Size(c), []string{in.Kind, in.Search}
	after, err := serve.NameOf(in.Cursor, question)
	if len(in.Member) > 500 {
		c.Found.Add("member", "must be at most 500")
	}
	if len(in.Member) == 0 && !slices.Contains(domain.EntityKinds, in.Kind) {
		c.Found.Add("kind", "must be one of user, agent, project, team, org")
	}
	if err := serve.Merge(c.Found, err); err != nil {
		return out, err
	}
	if len(in.Member) > 0 {
		members, err := s.directory.Known(ctx, c.Principal.Tenant, serve.FromStrings[domain.Entity](in.Member))
		out.Items = serve.Map(members, func(m domain.DirectoryMember) api.Member { return memberOf(m, nil) })
		return out, err
	}
	members, err := s.named(ctx, c.Principal.Tenant, in, domain.Entity(after), limit+1)
	if len(members) > limit {
		members = members[:limit]
		out.NextCursor = serve.NameCursor(string(members[limit-1].Member), question)
	}
	out.Items = serve.Map(members, func(m domain.DirectoryMember) api.Member { return memberOf(m, nil) })
	return out, err
}

// named lists up to limit members whose id or display name contains what is searched.
func (s members) named(
	ctx context.Context, tenant string, in *membersInput, after domain.Entity, limit int,
) (found []domain.DirectoryMember, err error) {
	page := limit
	if in.Search != "" {
		page = 500
	}
	for searched := text.Fold(in.Search); ; {
		members, err := s.directory.Members(ctx, tenant, in.Kind, after, page)
		for _, m := range members {
			after = m.Member
			if strings.Contains(text.Fold(m.Member.ID()+"\n"+m.DisplayName+"\n"+m.UserName), searched) {
				found = append(found, m)
			}
		}
		if err != nil || len(members) < page || len(found) >= limit {
			return found, err
		}
	}
}

// memberOf shows a member with what it belongs to, or with its direct groups.
func memberOf(m domain.DirectoryMember, all []domain.Belonging) api.Member {
	shown := api.Member{
		Member: string(m.Member), DisplayName: m.DisplayName, UserName: m.UserName, Active: m.Active(),
		AddedAt:       serve.Time(m.AddedAt),
		DeactivatedAt: serve.Time(m.DeactivatedAt), Groups: BelongingsOf(all),
	}
	if all == nil {
		for _, one := range m.Groups {
			shown.Groups = append(shown.Groups, api.Membership{
				Group: string(one.Group), Role: string(one.Role), Since: serve.Time(one.Since),
			})
		}
	}
	return shown
}

func BelongingsOf(all []domain.Belonging) []api.Membership {
	return serve.Map(all, func(b domain.Belonging) api.Membership {
		return api.Membership{
			Group: string(b.Group), Role: string(b.Role), Since: serve.Time(b.Since), Through: string(b.Through),
		}
	})
}

func (s members) find(ctx context.Context, c *serve.Call, in *memberInput) (api.Member, error) {
	member := domain.Entity(in.Member)
	of, err := s.directory.Belongings(ctx, c.Principal.Tenant, member, nil)
	switch {
	case err != nil:
		return api.Member{}, err
	case of.Entry.AddedAt.IsZero():
		return api.Member{}, domain.NoMember(member)
	}
	named := []domain.DirectoryMember{{MemberEntry: of.Entry}}
	if err := s.directory.Name(ctx, c.Principal.Tenant, named); err != nil {
		return api.Member{}, err
	}
	out := memberOf(named[0], of.All)
	if !slices.Contains(domain.GroupKinds, member.Kind()) {
		return out, nil
	}
	members, err := s.directory.InGroup(ctx, c.Principal.Tenant, member)
	for _, m := range members {
		i := slices.IndexFunc(m.Groups, func(one domain.Membership) bool { return one.Group == member })
		out.Members = append(out.Members, api.GroupMember{
			Member: string(m.Member), DisplayName: m.DisplayName, Active: m.Active(), Role: string(m.Groups[i].Role),
			Since: serve.Time(m.Groups[i].Since),
		})
	}
	return out, err
}

// about is what the commands about a member have in common.
func about(c *serve.Call, member string) domain.OfDirectory {
	return domain.OfDirectory{By: c.Principal, Member: domain.Entity(member)}
}

type written = serve.Written[api.Member]

// do submits a command, and answers with the member afterwards.
func (s members) do(ctx context.Context, c *serve.Call, command serve.Validated) (*written, error) {
	done, err := c.Do(ctx, command)
	if err != nil {
		return nil, err
	}
	member, err := s.find(ctx, c, &memberInput{done.Stream.Name})
	return serve.WrittenOf(done, member, err)
}

func (s members) put(ctx context.Context, c *serve.Call, in *memberInput, body api.NewMember) (*written, error) {
	return s.do(ctx, c, domain.PutMember{OfDirectory: about(c, in.Member), DisplayName: body.DisplayName})
}

func (s members) deactivate(again bool) serve.Operation[memberInput, written] {
	return func(ctx context.Context, c *serve.Call, in *memberInput) (*written, error) {
		reason, err := serve.ReadAny[api.Reason](c)
		if err != nil {
			return nil, err
		}
		out, err := s.do(ctx, c, domain.DeactivateMember{
			OfDirectory: about(c, in.Member), Reason: reason.Reason, Again: again,
		})
		if err != nil || again {
			return out, err
		}
		if s.keys != nil {
			out.Body.RevokedKeys, err = RevokeKeys(ctx, s.keys, s.api.Writer, domain.Submission{
				By: c.Principal, Origin: c.Origin,
			}, domain.Entity(in.Member), *out.Body.DeactivatedAt, reason.Reason)
		}
		if err != nil {
			return out, err
		}
		owned, err := s.items.Count(ctx, c.Principal, domain.Filter{
			Owner: domain.Entity(in.Member), Statuses: []domain.Status{domain.Active, domain.IsSuperseded},
		})
		out.Body.Owns = &owned.Items
		return out, err
	}
}

// RevokeKeys records the revocation of the keys of a member that was deactivated since a time, as submissions. They are
// invalid even before. An admin leaves root's keys valid.
func RevokeKeys(
	ctx context.Context, source Keys, writer serve.Writer, as domain.Submission, member domain.Entity, since time.Time,
	reason string,
) (revoked []string, err error) {
	keys, err := source.Issued(ctx, as.By.Tenant)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		if k.Subject != member || !k.RevokedAt.IsZero() && k.RevokedAt.Before(since) ||
			k.Role == domain.Root && as.By.Role != domain.Root {
			continue
		}
		as.Command = domain.RevokeKey{By: as.By, Prefix: k.Prefix, Reason: reason}
		receipt, err := writer.Submit(ctx, as)
		if err != nil {
			return revoked, err
		}
		if receipt.Outcome != domain.Unchanged {
			revoked = append(revoked, k.Prefix)
		}
	}
	return revoked, nil
}

func (s members) join(ctx context.Context, c *serve.Call, in *groupInput, body api.NewMembership) (*written, error) {
	below, err := s.below(ctx, c, domain.Entity(in.Member))
	if err != nil {
		return nil, err
	}
	return s.do(ctx, c, domain.JoinGroup{
		OfDirectory: about(c, in.Member), Group: domain.Entity(in.Group), Role: domain.GroupRole(body.Role), Below: below,
	})
}

// below is how many groups lie below a group, one below the other.
func (s members) below(ctx context.Context, c *serve.Call, group domain.Entity) (levels int, err error) {
	if !slices.Contains(domain.GroupKinds, group.Kind()) {
		return 0, nil
	}
	rest, err := All(ctx, s.directory, c.Principal.Tenant, domain.GroupKinds...)
	for level := []domain.Entity{group}; ; levels++ {
		isAbove := func(of domain.Membership) bool { return slices.Contains(level, of.Group) }
		var next []domain.Entity
		rest = slices.DeleteFunc(rest, func(m domain.DirectoryMember) bool {
			isNext := m.Member != group && slices.ContainsFunc(m.Groups, isAbove)
			if isNext {
				next = append(next, m.Member)
			}
			return isNext
		})
		if level = next; len(level) == 0 {
			return levels, err
		}
	}
}

// All lists the members of some kinds, in order of their names.
func All(
	ctx context.Context, directory Directory, tenant string, kinds ...string,
) (all []domain.DirectoryMember, err error) {
	const page = 500
	for _, kind := range kinds {
		for after, more := domain.Entity(""), true; more; {
			some, err := directory.Members(ctx, tenant, kind, after, page)
			if err != nil {
				return nil, err
			}
			if more = len(some) == page; more {
				after = some[page-1].Member
			}
			all = append(all, some...)
		}
	}
	return all, nil
}

func (s members) leave(ctx context.Context, c *serve.Call, in *groupInput, body api.Reason) (*written, error) {
	return s.do(ctx, c, domain.LeaveGroup{
		OfDirectory: about(c, in.Member), Group: domain.Entity(in.Group), Reason: body.Reason,
	})
}
