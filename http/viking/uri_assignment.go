package viking

import (
	"context"
	"errors"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// writable are the first names of writable URIs.
var writable = []string{domain.User, domain.Agent, "session", "resources"}

// assign derives an item's context type, owner and scopes from its address. An item in a space is visible to its
// owner alone. An item outside of spaces has the widest audience that the caller may write to.
func (c caller) assign(a address) (domain.Remembered, error) {
	r := domain.Remembered{
		Owner: c.EffectiveSubject(), Class: domain.Class{ContextType: a.uri.ContextType(), Category: a.uri.Category()},
		Text: domain.Text{URI: string(a.uri)},
	}
	names := a.uri.Names()
	switch {
	case a.beyond:
		return r, domain.Refuse(domain.ErrForbidden, "the uri is another tenant's than the caller's")
	case len(names) < 2 || !slices.Contains(writable, names[0]):
		return r, invalid("uri", "must lie below viking://user/, viking://agent/, viking://resources/ or viking://session/")
	}
	if r.Type = domain.TypeOf(r.Category, r.ContextType); r.Type == "" {
		r.Type = domain.Definition
	}
	space := a.uri.Space()
	if _, err := domain.ParseEntity(string(space)); space != "" && err != nil {
		return r, invalid(
			"uri", "must name a user or an agent whose id is 1 to 128 of A-Z a-z 0-9 . _ @ - and begins with a letter or digit",
		)
	}
	switch {
	case space == "" && a.org != "":
		r.Scopes = []domain.Scope{a.org.Scope()}
		return r, nil
	case space == "":
		var err error
		r.Scopes, err = c.widestScopes()
		return r, err
	case space != domain.Entity(domain.Agent+":"+c.space): // the space of a user's agent belongs to the user
		r.Owner = space
	}
	r.Scopes = []domain.Scope{r.Owner.Scope()}
	return r, nil
}

// widestScopes is the widest audience that the caller may write to.
func (c caller) widestScopes() ([]domain.Scope, error) {
	if c.MayPublish(domain.Public) {
		return []domain.Scope{domain.Public}, nil
	}
	for _, kind := range []string{domain.Org, domain.Team, domain.Project} {
		var scopes []domain.Scope
		for _, entity := range c.Memberships {
			if entity.Kind() == kind {
				scopes = append(scopes, entity.Scope())
			}
		}
		if len(scopes) > 0 {
			return scopes, nil
		}
	}
	return nil, domain.Refuse(domain.ErrForbidden, "the caller may not write for all users").
		WithFix("write to viking://user/, or use a key that may publish or belongs to a team")
}

// requireDirectory refuses a description of something that is not a directory: no answer would show it.
func (s tree) requireDirectory(ctx context.Context, c caller, a address) error {
	if a.uri.Level() == domain.Detail {
		return nil
	}
	above := a
	above.uri = a.uri.Parent()
	n, err := s.find(ctx, c, above)
	switch {
	case errors.Is(err, domain.ErrNotFound), err == nil && n.isDir:
		return nil
	case err != nil:
		return err
	}
	return domain.Refuse(domain.ErrPrecondition, "it would lie in a file, which says by itself what it is about").
		WithFix("PATCH /v1/knowledge/{id} changes the abstract and the overview of a file")
}
