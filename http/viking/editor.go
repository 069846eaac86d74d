package viking

import (
	"cmp"
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/annals-kb/annals/domain"
)

// editor changes what is in the tree, as the caller.
type editor struct {
	tree   tree
	writer Writer
}

// submit submits a command.
func (s editor) submit(ctx context.Context, q *query, command domain.Command) (domain.Receipt, error) {
	if err := validate(command); err != nil {
		return domain.Receipt{}, err
	}
	return s.writer.Submit(ctx, q.submission(command))
}

// submitIdempotent submits the one command of a request. A repeated request with the same Idempotency-Key gets the
// first answer.
func (s editor) submitIdempotent(ctx context.Context, q *query, command domain.Command) (domain.Receipt, error) {
	if err := validate(command); err != nil {
		return domain.Receipt{}, err
	}
	submission := q.submission(command)
	if key := q.idempotencyKey(); key != "" {
		submission.Request = &domain.Request{Key: key, Fingerprint: q.fingerprint()}
	}
	if err := q.found.Err(); err != nil {
		return domain.Receipt{}, err
	}
	return s.writer.Submit(ctx, submission)
}

// change submits a command and returns the item as it is after it.
func (s editor) change(ctx context.Context, q *query, command domain.Command) (*domain.Knowledge, error) {
	receipt, err := s.submit(ctx, q, command)
	return receipt.Knowledge, err
}

// submitAll submits commands and returns the first refusal. A refusal does not affect the other commands.
func (s editor) submitAll(ctx context.Context, submissions []domain.Submission) (refused error) {
	for _, result := range s.writer.SubmitAll(ctx, submissions) {
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

// remember writes an item to a free address. Fill sets its other fields.
func (s editor) remember(
	ctx context.Context, q *query, a address, fill func(*domain.Remembered),
) (*domain.Knowledge, error) {
	command, err := q.remembering(a, fill)
	if err != nil {
		return nil, err
	}
	return s.change(ctx, q, command)
}

func (q *query) remembering(a address, fill func(*domain.Remembered)) (domain.Remember, error) {
	item, err := q.caller.assign(a)
	if err != nil {
		return domain.Remember{}, err
	}
	fill(&item)
	return domain.Remember{By: q.caller.Principal, ID: newID(), Fresh: true, Knowledge: item, MayBeEmpty: true}.Complete()
}

// commandFor makes the command for an item; nil for none. The error names the obstacle.
type commandFor func(k *domain.Knowledge) (domain.Command, error)

// changeAt changes the items at an address or below it, and returns their URIs.
func (s editor) changeAt(ctx context.Context, q *query, a address, command commandFor) ([]domain.URI, error) {
	n, err := s.tree.find(ctx, q.caller, a)
	if err != nil {
		return nil, err
	}
	if n.isDir {
		return s.changeBelow(ctx, q, a.uri, command)
	}
	c, err := command(n.item)
	if err == nil {
		_, err = s.change(ctx, q, c)
	}
	return []domain.URI{a.uri}, err
}

// changeBelow submits a command for every item below a directory, and returns the URIs of the changed items. It first
// checks all of them and changes none if one is not allowed.
func (s editor) changeBelow(
	ctx context.Context, q *query, directory domain.URI, command commandFor,
) ([]domain.URI, error) {
	if err := s.checkAllowed(ctx, q, directory, command); err != nil {
		return nil, err
	}
	var done []domain.URI
	var refused error
	err := s.tree.eachPage(ctx, q, directory, func(items []*domain.Knowledge) error {
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
		for i, result := range s.writer.SubmitAll(ctx, submissions) {
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
func (s editor) checkAllowed(ctx context.Context, q *query, directory domain.URI, command commandFor) error {
	all, others := 0, 0
	err := s.tree.eachPage(ctx, q, directory, func(items []*domain.Knowledge) error {
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

// isGone tells whether another request removed the item first.
func isGone(err error) bool {
	return errors.Is(err, domain.ErrDeleted) || errors.Is(err, domain.ErrErased)
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

// deleteCommand deletes an item.
func (q *query) deleteCommand(k *domain.Knowledge) (domain.Command, error) {
	return domain.Delete{Target: q.target(k)}, nil
}

// newID is unique and increases with time.
func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (s editor) removeAt(ctx context.Context, q *query, uri string, recursive bool) (any, error) {
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
	facts, err := s.tree.profileFacts(ctx, q.caller, a)
	if err != nil {
		return nil, err
	}
	for _, fact := range facts {
		if _, err := s.change(ctx, q, domain.Delete{Target: q.target(fact)}); err != nil && !isGone(err) {
			return nil, err
		}
	}
	gone["estimated_deleted_count"] = len(facts)
	n, err := s.tree.find(ctx, q.caller, a)
	switch {
	case errors.Is(err, domain.ErrNotFound):
		if shared, err := s.tree.findReadable(ctx, q.caller, a); err == nil {
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
		visible, err := s.tree.children(ctx, q.caller, n.uri, false, 1)
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
