package viking

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/annals-kb/annals/domain"
)

// relations answers requests about the relations between items.
type relations struct {
	tree   tree
	editor editor
}

func (s relations) routes(on route) {
	on("GET /api/v1/relations", s.relations)
	on("POST /api/v1/relations/link", s.link)
	on("DELETE /api/v1/relations/link", s.unlink)
}

// relation is an item related to another.
type relation struct {
	URI    string `json:"uri"`
	Reason string `json:"reason"`
}

// relations lists the related items that exist and are visible, under their present URIs.
func (s relations) relations(ctx context.Context, q *query) (any, error) {
	a, err := q.caller.address("uri", q.param("uri"))
	if err != nil {
		return nil, err
	}
	list := []relation{}
	k, err := s.noteItem(ctx, q, a)
	if err != nil || k == nil {
		return list, err
	}
	others, err := s.tree.related(ctx, q, k)
	for _, r := range k.Relations {
		if other := others[r.To]; other != nil {
			list = append(list, relation{URI: a.format(directoryOf(other)), Reason: r.Reason})
		}
	}
	return list, err
}

// link relates an item to others.
func (s relations) link(ctx context.Context, q *query) (any, error) {
	var in struct {
		From   string          `json:"from_uri"`
		To     json.RawMessage `json:"to_uris"`
		Reason string          `json:"reason"`
	}
	if err := q.bind(&in); err != nil {
		return nil, err
	}
	var to oneOrMore
	if json.Unmarshal(in.To, &to) != nil || len(to) == 0 {
		q.found.Add("to_uris", "must be a uri, or several")
		return nil, q.found.Err()
	}
	from, err := q.caller.address("from_uri", in.From)
	if err != nil {
		return nil, err
	}
	for _, uri := range append(to, in.From) { // before anything is written
		if err := s.mustExist(ctx, q, "to_uris", uri); err != nil {
			return nil, err
		}
	}
	id, err := s.noteItemID(ctx, q, "from_uri", in.From)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, uri := range to {
		id, err := s.noteItemID(ctx, q, "to_uris", uri)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	_, err = s.editor.change(
		ctx, q, domain.Link{Target: domain.Target{By: q.caller.Principal, ID: id}, To: ids, Reason: in.Reason},
	)
	return map[string]any{"from": from.String(), "to": in.To}, err
}

// unlink removes a relation. It succeeds if there is none.
func (s relations) unlink(ctx context.Context, q *query) (any, error) {
	from, to, err := q.bindFromTo()
	if err != nil {
		return nil, err
	}
	done := map[string]string{"from": from.String(), "to": to.String()}
	k, err := s.noteItem(ctx, q, from)
	if err != nil || k == nil {
		return done, err
	}
	other, err := s.noteItem(ctx, q, to)
	if errors.Is(err, domain.ErrNotFound) || err == nil && other == nil {
		return done, nil
	}
	if err != nil {
		return nil, err
	}
	_, err = s.editor.change(ctx, q, domain.Unlink{Target: q.target(k), To: other.ID})
	return done, err
}

// noteItem is the item that holds an address's relations: of a directory its description, of a skill its text; nil if
// there is none. The error matches domain.ErrNotFound if nothing exists at the address.
func (s relations) noteItem(ctx context.Context, q *query, a address) (*domain.Knowledge, error) {
	n, err := s.tree.find(ctx, q.caller, a)
	if err != nil || !n.isDir {
		return n.item, err
	}
	for _, name := range []string{domain.SkillName, domain.AbstractName} {
		if k, err := s.tree.itemAt(ctx, q.caller, a.uri.Join(name)); k != nil || err != nil {
			return k, err
		}
	}
	return nil, nil
}

// mustExist refuses an address where nothing exists.
func (s relations) mustExist(ctx context.Context, q *query, field, uri string) error {
	a, err := q.caller.address(field, uri)
	if err == nil {
		_, err = s.tree.find(ctx, q.caller, a)
	}
	return err
}

// noteItemID is the id of the item that holds an address's relations. For a directory without a description, it
// writes one with the directory's name.
func (s relations) noteItemID(ctx context.Context, q *query, field, uri string) (string, error) {
	a, err := q.caller.address(field, uri)
	if err != nil {
		return "", err
	}
	var k *domain.Knowledge
	err = retryIfTaken(func() (err error) {
		if k, err = s.noteItem(ctx, q, a); err == nil && k == nil {
			k, err = s.nameDirectory(ctx, q, a)
		}
		return err
	})
	if err != nil {
		return "", err
	}
	return k.ID, nil
}

// nameDirectory writes a description with the directory's name. Its audience is that of the first item in the
// directory.
func (s relations) nameDirectory(ctx context.Context, q *query, a address) (*domain.Knowledge, error) {
	n, err := s.tree.find(ctx, q.caller, a)
	if err != nil {
		return nil, err
	}
	about := a
	about.uri = a.uri.Join(domain.AbstractName)
	return s.editor.remember(ctx, q, about, func(r *domain.Remembered) {
		named(a.uri.Name())(r)
		if n.item != nil && a.uri.Space() == "" {
			r.Scopes = n.item.Scopes
		}
	})
}

// named fills in the directory's name as content.
func named(name string) func(*domain.Remembered) {
	return func(r *domain.Remembered) { r.Text.SetDirectoryName(name) }
}

// related are the visible items to which some items are related, by id.
func (s tree) related(ctx context.Context, q *query, items ...*domain.Knowledge) (map[string]*domain.Knowledge, error) {
	var ids []string
	for _, k := range items {
		for _, r := range k.Relations {
			ids = append(ids, r.To)
		}
	}
	if len(ids) == 0 {
		return nil, nil
	}
	return s.reader.Live(ctx, q.caller.Principal, ids)
}

// directoryOf is the URI that an item's relations belong to: that of the directory that it describes, or its own.
func directoryOf(k *domain.Knowledge) domain.URI {
	if uri := domain.URI(k.Text.URI); uri.Name() == domain.AbstractName {
		return uri.Parent()
	}
	return placeOf(k)
}
