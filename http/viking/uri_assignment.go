package viking

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/domain"
)

// writable are the first names of writable URIs.
var writable = []string{domain.User, domain.Agent, "session", "resources"}

// assign derives an item's context type, owner and scopes from its address. An item in a space is visible to its
// owner alone. An item outside of spaces has the widest audience that the caller may write to.
func (c caller) assign(a address) (domain.Remembered, error) {
	r := domain.Remembered{
		Owner: c.EffectiveSubject(), ContextType: a.uri.ContextType(), Category: a.uri.Category(),
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

// remember writes an item to a free address. Fill sets its other fields.
func (s *Server) remember(
	ctx context.Context, q *query, a address, fill func(*domain.Remembered),
) (*domain.Knowledge, error) {
	command, err := s.remembering(q, a, fill)
	if err != nil {
		return nil, err
	}
	return s.change(ctx, q, command)
}

// retryIfTaken calls do again if another request occupied the address in between.
func retryIfTaken(do func() error) error {
	err := do()
	if errors.Is(err, domain.ErrTaken) {
		err = do()
	}
	return err
}

// retryOverwritten calls do again while another request changes the item first, up to 100 times. Then the error
// matches domain.ErrConflict.
func retryOverwritten(do func() error) error {
	const tries = 100
	for range tries {
		if err := do(); !errors.Is(err, domain.ErrPrecondition) {
			return err
		}
	}
	return domain.Refuse(domain.ErrConflict, "other requests change the same item all the time").WithFix("try again")
}

func (s *Server) remembering(q *query, a address, fill func(*domain.Remembered)) (domain.Remember, error) {
	item, err := q.caller.assign(a)
	if err != nil {
		return domain.Remember{}, err
	}
	fill(&item)
	return domain.Remember{By: q.caller.Principal, ID: newID(), Knowledge: item, MayBeEmpty: true}.Complete()
}

// change submits a command and returns the item as it is after it.
func (s *Server) change(ctx context.Context, q *query, command domain.Command) (*domain.Knowledge, error) {
	receipt, err := s.submit(ctx, q, command)
	return receipt.Knowledge, err
}

// submitAll submits commands and returns the first refusal. A refusal does not affect the other commands.
func (s *Server) submitAll(ctx context.Context, submissions []domain.Submission) (refused error) {
	for _, result := range s.cfg.Writer.SubmitAll(ctx, submissions) {
		refused = cmp.Or(refused, result.Err)
	}
	return refused
}

// validate validates a command that was not completed.
func validate(command domain.Command) error {
	if c, can := command.(interface{ Validate() error }); can {
		return c.Validate()
	}
	return nil
}

func (q *query) submission(command domain.Command) domain.Submission {
	switch c := command.(type) {
	case domain.Revise:
		c.Reason = cmp.Or(c.Reason, q.reason)
		command = c
	case domain.Delete:
		c.Reason = cmp.Or(c.Reason, q.reason)
		command = c
	}
	return domain.Submission{Command: command, By: q.caller.Principal, Origin: q.caller.origin}
}

func (q *query) target(k *domain.Knowledge) domain.Target {
	return domain.Target{By: q.caller.Principal, ID: k.ID}
}

// newID is unique and increases with time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }
