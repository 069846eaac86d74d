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
func (s fileSystem) makeDirectory(ctx context.Context, q *query) (any, error) {
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

func (s fileSystem) makeAt(ctx context.Context, q *query, a address, description string) error {
	n, err := s.tree.find(ctx, q.caller, a)
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
func (s fileSystem) describe(ctx context.Context, q *query, a address, content string) error {
	fill := func(r *domain.Remembered) { r.Text.Content = content }
	if content == a.uri.Parent().Name() {
		fill = named(content)
	}
	k, err := s.tree.itemAt(ctx, q.caller, a.uri)
	switch {
	case k != nil:
		_, err = s.editor.change(ctx, q, domain.Revise{Target: q.target(k), Changes: domain.Revised{Content: &content}})
	case err == nil:
		_, err = s.editor.remember(ctx, q, a, fill)
	}
	return err
}

// remove deletes what an address names. It succeeds if nothing is there.
func (s fileSystem) remove(ctx context.Context, q *query) (any, error) {
	return s.editor.removeAt(ctx, q, q.param("uri"), q.boolParam("recursive"))
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
func (s fileSystem) move(ctx context.Context, q *query) (any, error) {
	from, to, err := q.bindFromTo()
	if err != nil {
		return nil, err
	}
	if _, err := s.tree.find(ctx, q.caller, from); err != nil {
		return nil, err
	}
	there, err := s.checkFree(ctx, q.caller, from, to)
	if err != nil {
		return nil, err
	}
	err = retryOverwritten(func() error {
		n, err := s.tree.find(ctx, q.caller, from)
		if err != nil {
			return err
		}
		return s.moveTo(ctx, q, n, there)
	})
	return map[string]string{"from": from.String(), "to": to.String()}, err
}

// moveTo moves a node to the URI of there.
func (s fileSystem) moveTo(ctx context.Context, q *query, n node, there domain.Remembered) error {
	if !n.isDir {
		_, err := s.editor.change(ctx, q, q.moveCommand(n.item, there))
		return err
	}
	// an item that the caller may not see may occupy the URI
	everybody := domain.Principal{Tenant: q.caller.Tenant, Role: domain.Admin}
	hidden, _, err := s.tree.reader.Leaves(
		ctx, domain.Walk{By: everybody, Below: domain.URI(there.Text.URI), Limit: 1}, false,
	)
	if err != nil {
		return err
	}
	_, err = s.editor.changeBelow(ctx, q, n.uri, func(k *domain.Knowledge) (domain.Command, error) {
		at := there
		at.Text.URI += strings.TrimPrefix(k.Text.URI, string(n.uri))
		if len(hidden) > 0 {
			switch _, err := s.tree.reader.At(ctx, q.caller.Tenant, domain.URI(at.Text.URI)); {
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
func (s fileSystem) checkFree(ctx context.Context, c caller, from, to address) (domain.Remembered, error) {
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
	_, err = s.tree.find(ctx, c, to)
	if err == nil {
		return there, occupied(to)
	}
	if errors.Is(err, domain.ErrNotFound) {
		err = s.tree.requireDirectory(ctx, c, to)
	}
	return there, err
}
