package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/client"
)

// Work are the groups that searches and new knowledge about work are for: those of one project, team or both.
type Work struct {
	audience *client.Audience
	scope    string // of new knowledge about work; empty for that of the caller
}

// WorkFor is the work for a project and a team, of which either may be empty. Searches then cover the caller, these
// groups, the caller's organisations, and what is public. New knowledge about work is for the project, or else for the
// team. The error says why the caller cannot work for them.
func WorkFor(ctx context.Context, api *client.Client, project, team string) (work Work, err error) {
	if project == "" && team == "" {
		return work, nil
	}
	me, err := api.Whoami(ctx)
	if err != nil {
		return work, fmt.Errorf("ask the server for the caller: %w", err)
	}
	work.audience = &client.Audience{ProjectID: project, TeamID: team}
	for _, group := range []struct{ kind, id string }{{domain.Team, team}, {domain.Project, project}} {
		if group.id == "" {
			continue
		}
		e := group.kind + ":" + group.id
		if err := mayWorkFor(ctx, api, me, e); err != nil {
			return Work{}, err
		}
		work.scope = e // the project's, if both are given
	}
	for _, e := range append([]string{me.Subject, me.OnBehalfOf}, me.Memberships...) {
		switch of := domain.Entity(e); of.Kind() {
		case domain.User:
			if me.OnBehalfOf == "" || e == me.OnBehalfOf {
				work.audience.UserID = of.ID()
			}
		case domain.Agent:
			work.audience.AgentID = of.ID()
		case domain.Org:
			work.audience.OrgIDs = append(work.audience.OrgIDs, of.ID())
		}
	}
	return work, nil
}

// mayWorkFor refuses a group to which the caller does not belong. For a caller whose role reaches every group, the
// directory must know the group.
func mayWorkFor(ctx context.Context, api *client.Client, me client.Identity, group string) error {
	if slices.Contains(me.Memberships, group) {
		return nil
	}
	_, err := domain.ParseEntity(group)
	if err != nil {
		return fmt.Errorf("%s: %w", group, err)
	}
	known, err := inDirectory(ctx, api, group)
	if err == nil && !known {
		return fmt.Errorf("%s is not in the directory", group)
	}
	confined := me.Role == string(domain.Member)
	if err == nil && !confined && me.OnBehalfOf != "" {
		confined, err = inDirectory(ctx, api, me.OnBehalfOf)
	}
	if err == nil && confined {
		err = fmt.Errorf("%s does not belong to %s", cmp.Or(me.OnBehalfOf, me.Subject), group)
	}
	return err
}

func inDirectory(ctx context.Context, api *client.Client, member string) (bool, error) {
	_, err := api.Do(ctx, client.Get("v1", "directory", member), nil)
	if errors.Is(err, client.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

type workKey struct{}

// within puts the work into the context of a tool.
func (w Work) within(ctx context.Context) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

// workOf is the work of a tool.
func workOf(ctx context.Context) Work {
	w, _ := ctx.Value(workKey{}).(Work)
	return w
}

// scopeFor is the group that new knowledge about work is for: that of the work, or else the caller's only team. It is
// empty for the caller alone.
func scopeFor(ctx context.Context, api *client.Client) (string, error) {
	if work := workOf(ctx); work.scope != "" {
		return work.scope, nil
	}
	me, err := api.Whoami(ctx)
	return domain.OnlyTeam(me.Memberships), err
}

// stateReaders lets the description of the tool remember say for whom the caller's knowledge about work is. While the
// server does not say who the caller is, the description stays general.
func (s *Server) stateReaders(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, request sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, request)
		list, is := result.(*sdk.ListToolsResult)
		if err != nil || !is {
			return result, err
		}
		scope, err := scopeFor(s.cfg.Work.within(ctx), s.api(request))
		if err != nil {
			return result, nil //nolint:nilerr // the tools can be listed all the same
		}
		stated := *list
		stated.Tools = slices.Clone(list.Tools)
		for i, t := range stated.Tools {
			if t.Description == rememberDescription {
				told := *t
				told.Description += " For you that is you alone."
				if scope != "" {
					told.Description = rememberDescription + " For you that is " + scope + "."
				}
				stated.Tools[i] = &told
			}
		}
		return &stated, nil
	}
}
