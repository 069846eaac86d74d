package viking

import (
	"cmp"
	"context"
	"errors"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// makeDirectory creates an empty directory. A directory exists as long as it has content; so the request writes the
// file that describes the directory.
func (s *Server) makeDirectory(ctx context.Context, q *query) (any, error) {
	var in struct {
		URI         string `json:"uri"`
		Description string `json:"description"`
	}
	a, err := q.at(q.bindWrite(&in))
	if err != nil {
		return nil, err
	}
	return map[string]string{"uri": a.String()}, retryIfTaken(func() error { return s.makeAt(ctx, q, a, in.Description) })
}

func (s *Server) makeAt(ctx context.Context, q *query, a address, description string) error {
	n, err := s.find(ctx, q.caller, a)
	switch {
	case errors.Is(err, domain.ErrNotFound):
	case err != nil:
		return err
	case !n.isDir:
		return domain.Refuse(domain.ErrTaken, "a file lies there")
	case description == "":
		return nil
	}
	a.uri = a.uri.Join(domain.AbstractName)
	return s.describe(ctx, q, a, cmp.Or(description, a.uri.Parent().Name()))
}

// describe writes the description of a directory.
func (s *Server) describe(ctx context.Context, q *query, a address, content string) error {
	fill := func(r *domain.Remembered) { r.Text.Content = content }
	if content == a.uri.Parent().Name() {
		fill = named(content)
	}
	k, err := s.itemAt(ctx, q.caller, a.uri)
	switch {
	case k != nil:
		_, err = s.change(ctx, q, domain.Revise{Target: q.target(k), Changes: domain.Revised{Content: &content}})
	case err == nil:
		_, err = s.remember(ctx, q, a, fill)
	}
	return err
}

// remove deletes what an address names. It succeeds if nothing is there.
func (s *Server) remove(ctx context.Context, q *query) (any, error) {
	return s.removeAt(ctx, q, q.param("uri"), q.boolParam("recursive"))
}

func (s *Server) removeAt(ctx context.Context, q *query, uri string, recursive bool) (any, error) {
	a, err := q.caller.address("uri", uri)
	if err != nil {
		return nil, err
	}
	if names := a.uri.Names(); len(names) == 0 || len(names) == 1 && names[0] != "resources" {
		q.found.Add("uri", "must name what to remove, and not everything, nor what all users share")
	}
	if err := q.found.Err(); err != nil {
		return nil, err
	}
	gone := map[string]any{"uri": a.String(), "estimated_deleted_count": 0}
	facts, err := s.profileFacts(ctx, q.caller, a)
	if err != nil {
		return nil, err
	}
	for _, fact := range facts {
		if _, err := s.change(ctx, q, domain.Delete{Target: q.target(fact)}); err != nil && !isGone(err) {
			return nil, err
		}
	}
	gone["estimated_deleted_count"] = len(facts)
	n, err := s.find(ctx, q.caller, a)
	switch {
	case errors.Is(err, domain.ErrNotFound):
		if shared, err := s.findReadable(ctx, q.caller, a); err == nil {
			return nil, domain.Refuse(domain.ErrPrecondition, "what is read there is shared by all agents").
				WithFix("remove %s", a.format(shared.uri))
		}
		return gone, nil
	case err != nil:
		return nil, err
	case !n.isDir:
		_, err = s.change(ctx, q, domain.Delete{Target: q.target(n.item)})
		switch {
		case err == nil:
			gone["estimated_deleted_count"] = len(facts) + 1
		case isGone(err):
			err = nil
		}
		return gone, err
	}
	if !recursive {
		visible, err := s.children(ctx, q.caller, n.uri, false, 1)
		if err != nil {
			return nil, err
		}
		if len(visible) > 0 {
			return nil, domain.Refuse(domain.ErrPrecondition, "the directory is not empty").WithFix("ask with recursive=true")
		}
	}
	deleted, err := s.changeBelow(ctx, q, n.uri, q.deleteCommand)
	gone["estimated_deleted_count"] = len(deleted)
	return gone, err
}

// isGone tells whether another request removed the item first.
func isGone(err error) bool {
	return errors.Is(err, domain.ErrDeleted) || errors.Is(err, domain.ErrErased)
}

// commandFor makes the command for an item; nil for none. The error names the obstacle.
type commandFor func(k *domain.Knowledge) (domain.Command, error)

// deleteCommand deletes an item.
func (q *query) deleteCommand(k *domain.Knowledge) (domain.Command, error) {
	return domain.Delete{Target: q.target(k)}, nil
}

// changeBelow submits a command for every item below a directory, and returns the URIs of the changed items. It first
// checks all of them and changes none if one is not allowed.
func (s *Server) changeBelow(
	ctx context.Context, q *query, directory domain.URI, command commandFor,
) ([]domain.URI, error) {
	if err := s.checkAllowed(ctx, q, directory, command); err != nil {
		return nil, err
	}
	var done []domain.URI
	var refused error
	err := s.eachPage(ctx, q, directory, func(items []*domain.Knowledge) error {
		var submissions []domain.Submission
		var places []domain.URI
		for _, k := range items {
			c, err := command(k)
			if err != nil {
				return err
			}
			if c != nil {
				submissions, places = append(submissions, q.submission(c)), append(places, domain.URI(k.Text.URI))
			}
		}
		for i, result := range s.cfg.Writer.SubmitAll(ctx, submissions) {
			switch {
			case result.Err == nil:
				done = append(done, places[i])
			case !isGone(result.Err):
				refused = cmp.Or(refused, result.Err)
			}
		}
		return nil
	})
	return done, cmp.Or(err, refused)
}

// checkAllowed refuses a change of the items below a directory if one has an obstacle or belongs to others.
func (s *Server) checkAllowed(ctx context.Context, q *query, directory domain.URI, command commandFor) error {
	all, others := 0, 0
	err := s.eachPage(ctx, q, directory, func(items []*domain.Knowledge) error {
		for _, k := range items {
			c, err := command(k)
			if err == nil {
				err = validate(c)
			}
			if err != nil {
				return err
			}
			if c != nil {
				all++
			}
			if c != nil && !q.caller.MayChange(k) {
				others++
			}
		}
		return nil
	})
	if err == nil && others > 0 && q.caller.Role != domain.Auditor { // auditors change nothing at all
		err = domain.Refuse(
			domain.ErrForbidden, "nothing was changed: %d of the %d items there belong to others", others, all,
		).
			WithFix("ask their owners or an admin, or name what is the caller's own")
	}
	return err
}

// eachPage calls see with pages of the items below a directory that the caller may see, in the order of URIs.
func (s tree) eachPage(ctx context.Context, q *query, directory domain.URI, see func([]*domain.Knowledge) error) error {
	const page = 500
	for after := domain.URI(""); ; {
		items, err := s.reader.Below(ctx, domain.Walk{By: q.caller.Principal, Below: directory, After: after, Limit: page})
		if err == nil {
			err = see(items)
		}
		if err != nil || len(items) < page {
			return err
		}
		after = domain.URI(items[len(items)-1].Text.URI)
	}
}

// move moves an item or a directory with its contents.
func (s *Server) move(ctx context.Context, q *query) (any, error) {
	from, to, err := q.bindFromTo()
	if err != nil {
		return nil, err
	}
	if _, err := s.find(ctx, q.caller, from); err != nil {
		return nil, err
	}
	there, err := s.checkFree(ctx, q.caller, from, to)
	if err != nil {
		return nil, err
	}
	err = retryOverwritten(func() error {
		n, err := s.find(ctx, q.caller, from)
		if err != nil {
			return err
		}
		return s.moveTo(ctx, q, n, there)
	})
	return map[string]string{"from": from.String(), "to": to.String()}, err
}

// moveTo moves a node to the URI of there.
func (s *Server) moveTo(ctx context.Context, q *query, n node, there domain.Remembered) error {
	if !n.isDir {
		_, err := s.change(ctx, q, q.moveCommand(n.item, there))
		return err
	}
	// an item that the caller may not see may occupy the URI
	everybody := domain.Principal{Tenant: q.caller.Tenant, Role: domain.Admin}
	hidden, _, err := s.cfg.Reader.Leaves(
		ctx, domain.Walk{By: everybody, Below: domain.URI(there.Text.URI), Limit: 1}, false,
	)
	if err != nil {
		return err
	}
	_, err = s.changeBelow(ctx, q, n.uri, func(k *domain.Knowledge) (domain.Command, error) {
		at := there
		at.Text.URI += strings.TrimPrefix(k.Text.URI, string(n.uri))
		if len(hidden) > 0 {
			switch _, err := s.cfg.Reader.At(ctx, q.caller.Tenant, domain.URI(at.Text.URI)); {
			case err == nil:
				return nil, domain.Refuse(domain.ErrTaken, "nothing was changed: a uri there belongs to another item").
					WithFix("choose another uri")
			case !errors.Is(err, domain.ErrNotFound):
				return nil, err
			}
		}
		return q.moveCommand(k, at), nil
	})
	return err
}

// moveCommand moves an item to the URI of there. In another space, the item gets the scopes that a new item would
// have there and the owner of the space. Outside of spaces it keeps its owner.
func (q *query) moveCommand(k *domain.Knowledge, there domain.Remembered) domain.Command {
	command := domain.Revise{Target: q.target(k), URI: there.Text.URI}
	command.Revisions = []int64{k.Revision}
	space := domain.URI(there.Text.URI).Space()
	if space == domain.URI(k.Text.URI).Space() {
		return command
	}
	command.Scopes = there.Scopes
	if space != "" {
		command.Owner = there.Owner
	}
	return command
}

// checkFree returns what follows from the target address. It refuses one that is occupied or that lies within from.
func (s *Server) checkFree(ctx context.Context, c caller, from, to address) (domain.Remembered, error) {
	there, err := c.assign(to)
	if err != nil {
		return there, err
	}
	if to.uri == from.uri {
		return there, invalid("to_uri", "must be another place than from_uri")
	}
	if to.uri.Within(from.uri) {
		return there, invalid("to_uri", "must not lie in what is moved")
	}
	_, err = s.find(ctx, c, to)
	if err == nil {
		return there, occupied(to)
	}
	if errors.Is(err, domain.ErrNotFound) {
		err = s.requireDirectory(ctx, c, to)
	}
	return there, err
}
