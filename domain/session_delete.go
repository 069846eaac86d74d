package domain

import (
	"context"
	"errors"
	"time"
)

// DeleteSession asks to take a session out of every list. One that does not exist is no refusal.
type DeleteSession struct {
	SessionTarget
	Reason string
}

// Validate names every bad field at once.
func (c DeleteSession) Validate() error {
	var p Problems
	c.check(&p)
	atMost(&p, "reason", c.Reason, maxReason)
	return p.Err()
}

// Decide implements [Command].
func (c DeleteSession) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	if err != nil || !s.Open() {
		return nil, err
	}
	return []Fact{SessionDeleted{Reason: c.Reason}}, nil
}

// DeleteArchives are the commands that delete the items of a deleted session's archives, those since it was deleted last.
func (s Session) DeleteArchives(t SessionTarget) []Command {
	var commands []Command
	for _, id := range s.ArchiveItems(t.Stream())[s.Before:] {
		commands = append(commands, Delete{Target: Target{By: t.By, ID: id}, Reason: "its session was deleted"})
	}
	return commands
}

// SubmitArchives submits what becomes of a session's archives. Those that are gone already are left alone.
func SubmitArchives(ctx context.Context, submit func(context.Context, []Submission) []Result, by Principal, origin Origin, commands []Command) error {
	submissions := make([]Submission, len(commands))
	for i, command := range commands {
		submissions[i] = Submission{Command: command, By: by, Origin: origin}
	}
	for _, result := range submit(ctx, submissions) {
		if result.Err != nil && !IsGone(result.Err) {
			return result.Err
		}
	}
	return nil
}

// RewriteText implements [TextCommand].
func (c DeleteSession) RewriteText(r TextRewriter) Command {
	r.all(&c.Reason)
	return c
}

// EraseSession asks to destroy what was said in a session, and what was noted of what was learned from it,
// for good: for its owner in person, or an admin in person. Its archives are erased by themselves, before: whatever
// is held until the session is keeps the session, too. The items that were made of it are erased by themselves.
type EraseSession struct {
	SessionTarget
	ErasureReason

	Archives []string // ids of its items: if one may not be erased, the session is not, either
}

// Reads implements [Command].
func (c EraseSession) Reads() Reads { return Reads{Items: c.Archives} }

// Complete fills in defaults, and names every bad field at once.
func (c EraseSession) Complete() (EraseSession, error) {
	if err := c.Validate(); err != nil {
		return c, err
	}
	reason, err := c.ErasureReason.Complete()
	c.ErasureReason = reason
	return c, err
}

// Decide implements [Command].
func (c EraseSession) Decide(dc DecisionContext, now time.Time) ([]Fact, error) {
	s, err := c.session(dc)
	switch {
	case err != nil:
		return nil, err
	case s.OpenedAt.IsZero():
		return nil, NoSession(c.ID)
	case !c.By.IsTenantAdmin() && !c.By.isSelf(s.Owner):
		return nil, Refuse(ErrForbidden, "the session may be erased by %s in person, or by an admin", s.Owner)
	}
	for _, id := range c.Archives {
		if _, err := (Erase{Target: Target{By: c.By, ID: id}, ErasureReason: c.ErasureReason}).Decide(dc, now); err != nil && !errors.Is(err, ErrNotFound) {
			return nil, err
		}
	}
	texts := dc.TextsOf(c.Stream())
	if s.Erased && len(texts) == 0 {
		return nil, nil
	}
	return []Fact{SessionErased{
		ReasonCode: c.ReasonCode, LegalBasis: c.LegalBasis, RequestedBy: c.RequestedBy, Ticket: c.Ticket, Events: idsOf(texts),
	}}, nil
}

var (
	_ TextCommand = DeleteSession{}
	_ Command     = EraseSession{}
)
