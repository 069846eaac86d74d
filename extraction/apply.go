package extraction

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// Writer takes commands to the log.
type Writer interface {
	Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error)
}

// mostSources is how many messages an item says at most that it was made from.
const mostSources = 1000

// remember is the command for the item that a lesson becomes. target is the item whose place it takes, or
// nil.
func (a assignment) remember(l domain.Lesson, target *domain.Knowledge) domain.Remember {
	item := domain.Remembered{
		ContextType: domain.Memory, Category: l.Category, Polarity: l.Polarity, Owner: a.owner, Scopes: a.scopes(l.Category),
		Source:      domain.Source{Category: "exp", AgentID: a.agent, TraceID: a.session},
		DerivedFrom: l.Sources[:min(len(l.Sources), mostSources)],
		Text: domain.Text{
			Task: l.Text.Task, Content: l.Text.Content, Abstract: l.Text.Abstract, Overview: l.Text.Overview,
			Tags: l.Text.Tags, Meta: l.Text.Meta, URI: l.Text.URI,
		},
	}
	if at := a.saidAt(l); !at.IsZero() {
		item.Source.Timestamp = at.UTC().Format(time.RFC3339)
	}
	if target != nil && l.Decision == domain.DecideMerge {
		item.Owner, item.Scopes = target.Owner, target.Scopes
		item.Baseline = &domain.Eval{Helpful: target.Helpful, Harmful: target.Harmful, Confidence: target.Confidence}
	}
	by := a.by()
	if item.Owner != a.owner {
		by = a.librarian()
	}
	return domain.Remember{By: by, ID: l.Item, Knowledge: item, OrSame: true}
}

// saidAt is when a lesson was said first.
func (a assignment) saidAt(l domain.Lesson) time.Time {
	for _, m := range a.messages {
		if len(l.Sources) > 0 && m.EventID == l.Sources[0] {
			return m.At
		}
	}
	return time.Time{}
}

// carryOut does what was decided. Every step may have been done before: it changes nothing then.
func (a assignment) carryOut(ctx context.Context, reader Reader, writer Writer, lessons []domain.Lesson) error {
	for i, l := range lessons {
		if err := a.step(ctx, reader, writer, l); err != nil {
			return fmt.Errorf("carry out decision %d of task %s: %w", i+1, a.task, err)
		}
	}
	return nil
}

func (a assignment) step(ctx context.Context, reader Reader, writer Writer, l domain.Lesson) error {
	origin := domain.Origin{CorrelationID: a.task, OccurredAt: a.saidAt(l)}
	if len(l.Sources) > 0 {
		origin.CausationID = l.Sources[0]
	}
	submit := func(by domain.Principal, command domain.Command) error {
		_, err := writer.Submit(ctx, domain.Submission{Command: command, By: by, Origin: origin})
		return err
	}
	switch l.Decision {
	case domain.DecideVote:
		return final(submit(a.by(), domain.GiveFeedback{
			Target: domain.Target{By: a.by(), ID: l.Target}, Verdict: domain.Helpful, TraceID: a.task, Outcome: "said again",
		}))
	case domain.DecideSkip:
		return nil
	}
	var target *domain.Knowledge
	if l.Target != "" {
		var err error
		if target, err = reader.Find(ctx, a.tenant, l.Target); err != nil {
			if final(err) != nil {
				return err
			}
			target = nil
		}
	}
	by := a.by()
	if target != nil && target.Owner != a.owner {
		by = a.librarian()
	}
	if target != nil && l.Text.URI != "" && target.Text.URI == l.Text.URI && target.ID != l.Item {
		aside := strings.TrimSuffix(l.Text.URI, ".md") + "@" + l.Item + ".md"
		if err := final(submit(by, domain.Revise{Target: domain.Target{By: by, ID: target.ID}, URI: aside})); err != nil {
			return err
		}
	}
	if err := a.create(ctx, submit, l, target); err != nil || target == nil {
		return err
	}
	return final(submit(by, domain.Supersede{Target: domain.Target{By: by, ID: target.ID}, Successor: l.Item, Reason: l.Text.Reason}))
}

// create remembers the item; elsewhere, if its place is taken.
func (a assignment) create(_ context.Context, submit func(domain.Principal, domain.Command) error, l domain.Lesson, target *domain.Knowledge) error {
	for {
		command, err := a.remember(l, target).Complete()
		if err == nil {
			err = submit(command.By, command)
		}
		if errors.Is(err, domain.ErrTaken) && l.Text.URI != "" {
			l.Text.URI = ""
			continue
		}
		return final(err)
	}
}

// final forgives refusals: what was decided then cannot be done any more, since people have done something
// else meanwhile. What may pass is an error.
func final(err error) error {
	for _, refusal := range []error{
		domain.ErrInvalid, domain.ErrNotFound, domain.ErrForbidden, domain.ErrTaken, domain.ErrConflict, domain.ErrDeleted, domain.ErrErased,
	} {
		if errors.Is(err, refusal) {
			return nil
		}
	}
	return err
}
