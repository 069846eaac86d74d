package extraction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
)

// Writer submits commands to the log.
type Writer interface {
	Submit(ctx context.Context, submission domain.Submission) (domain.Receipt, error)
	SubmitAll(ctx context.Context, submissions []domain.Submission) []domain.Result
}

// mostSources limits the messages from which an item says that it was made.
const mostSources = 1000

// remember is the command for the item of a lesson. target is the item that it replaces, or nil.
func (a assignment) remember(l domain.Lesson, target *domain.Knowledge) domain.Remember {
	item := domain.Remembered{
		Class: domain.Class{ContextType: domain.Memory, Category: l.Category, Polarity: l.Polarity},
		Owner: a.owner, Scopes: l.Scopes, Source: domain.Source{Category: "exp", AgentID: a.agent, TraceID: a.session},
		DerivedFrom: l.Sources[:min(len(l.Sources), mostSources)],
		Text: domain.Text{
			Task: l.Text.Task, Content: l.Text.Content, Abstract: l.Text.Abstract, Overview: l.Text.Overview,
			Tags: l.Text.Tags, Meta: l.Text.Meta, URI: l.Text.URI,
		},
	}
	item.Source.Trust = a.trust(l, target)
	if at := a.lessonTime(l); !at.IsZero() {
		item.Source.Timestamp = at.UTC().Format(time.RFC3339)
	}
	if target != nil && l.Decision == domain.DecideMerge {
		item.Owner, item.Scopes = target.Owner, target.Scopes
		helpful, harmful := domain.Weighed(target)
		item.Baseline = &domain.Eval{Helpful: helpful, Harmful: harmful, Confidence: target.Confidence}
	}
	by := a.by()
	if item.Owner != a.owner {
		by = a.countsOwner()
	}
	return domain.Remember{By: by, ID: l.Item, Knowledge: item, OrSame: true}
}

// trust is the class of a lesson: what an agent tells, or less if it was said with a resource in sight, or has words of
// a less trusted item.
func (a assignment) trust(l domain.Lesson, target *domain.Knowledge) domain.Trust {
	least := domain.FromPersonalAgent
	if target != nil {
		least = domain.LeastTrusted(least, target.Trust())
	}
	for _, m := range a.messages {
		if slices.Contains(l.Sources, m.EventID) && slices.ContainsFunc(m.Parts, func(p domain.Part) bool {
			return p.Type == domain.PartContext && p.ContextType == string(domain.Resource)
		}) {
			return domain.FromOutside
		}
	}
	return least
}

// lessonTime is when a lesson was first said.
func (a assignment) lessonTime(l domain.Lesson) time.Time {
	for _, m := range a.messages {
		if len(l.Sources) > 0 && m.EventID == l.Sources[0] {
			return m.At
		}
	}
	return time.Time{}
}

// draftTime is when a finding was said.
func (a assignment) draftTime(f LessonDraft) time.Time {
	return a.lessonTime(domain.Lesson{Sources: a.sources(f.Sources)})
}

// itemTime is when an item was said. What is recorded without a time holds since then.
func itemTime(k *domain.Knowledge) time.Time { return cmp.Or(k.OccurredAt, k.CreatedAt) }

// apply carries out the decisions. A step that was done before changes nothing. Independent lessons are submitted
// together, then replacements one by one.
func (a assignment) apply(ctx context.Context, reader Reader, writer Writer, lessons []domain.Lesson) error {
	var alone []domain.Submission
	var places []int
	for i, l := range lessons {
		if command, is := a.single(l); is {
			alone = append(alone, domain.Submission{Command: command, By: a.by(), Origin: a.origin(l)})
			places = append(places, i)
		}
	}
	for i, result := range writer.SubmitAll(ctx, alone) {
		err, l := result.Err, lessons[places[i]]
		if errors.Is(err, domain.ErrTaken) && l.Text.URI != "" {
			err = a.elsewhere(ctx, writer, l, nil)
		}
		if err := final(ctx, a.about(l), err); err != nil {
			return fmt.Errorf("carry out decision %d of task %s: %w", places[i]+1, a.task, err)
		}
	}
	for i, l := range lessons {
		var err error
		switch {
		case l.Decision == domain.DecideMerge, l.Decision == domain.DecideSupersede:
			err = a.replace(ctx, reader, writer, l)
		case l.Decision == domain.DecideCreate && l.Target != "":
			older := domain.Supersede{
				Target: domain.Target{By: a.by(), ID: l.Item}, Successor: l.Target, Reason: l.Text.Reason,
			}
			_, err = writer.Submit(ctx, domain.Submission{Command: older, By: a.by(), Origin: a.origin(l)})
			err = final(ctx, a.about(l), err)
		}
		if err == nil && len(l.Doubts) > 0 {
			err = a.propose(ctx, reader, writer, l)
		}
		if err != nil {
			return fmt.Errorf("carry out decision %d of task %s: %w", i+1, a.task, err)
		}
	}
	return nil
}

// propose proposes to review the item of a lesson together with what it puts in doubt.
func (a assignment) propose(ctx context.Context, reader Reader, writer Writer, l domain.Lesson) error {
	var items []*domain.Knowledge
	command := domain.ProposeReview{By: a.by(), Kind: domain.Contradiction, Items: append([]string{l.Item}, l.Doubts...)}
	for _, id := range command.Items {
		k, err := reader.Find(ctx, a.tenant, id)
		if err != nil {
			return final(ctx, a.about(l), err)
		}
		items = append(items, k)
	}
	command.ID = domain.ProposalID(command.Kind, items)
	_, err := writer.Submit(ctx, domain.Submission{Command: command, By: a.by(), Origin: a.origin(l)})
	return final(ctx, a.about(l), err)
}

// longestTranscript limits the bytes of the transcript in an archive's item.
const longestTranscript = domain.MaxContent - 1024

// archive is the command for the item of an archive, so that searches find it.
func (a assignment) archive(stream string, fact domain.SessionExtracted) domain.Remember {
	var content strings.Builder
	item := domain.Remembered{
		Class: domain.Class{Type: domain.Usecase, ContextType: domain.Memory}, Owner: a.owner,
		Scopes: []domain.Scope{a.owner.Scope()}, Source: domain.Source{Category: "exp", AgentID: a.agent, TraceID: a.session},
	}
	for _, m := range a.messages {
		if text := strings.TrimSpace(m.Text()); text != "" {
			fmt.Fprintf(&content, "%s: %s\n", m.Role, text)
		}
		if len(item.DerivedFrom) < mostSources && !slices.Contains(item.DerivedFrom, m.EventID) {
			item.DerivedFrom = append(item.DerivedFrom, m.EventID)
		}
	}
	item.Text = domain.Text{
		Task: a.title(fact.Summary.Abstract), Content: cut(strings.TrimSpace(content.String()), longestTranscript),
		Abstract: fact.Summary.Abstract, Overview: fact.Summary.Overview, Tags: domain.Tags{"category": {domain.ArchiveTag}},
		URI: domain.ArchiveURI(a.owner, a.session, fact.Archive),
	}
	return domain.Remember{By: a.by(), ID: domain.ArchiveItem(stream, fact.Archive), Knowledge: item, OrSame: true}
}

// title says to which session an archive belongs.
func (a assignment) title(about string) string {
	day := ""
	if len(a.messages) > 0 {
		day = a.messages[0].At.UTC().Format(time.DateOnly)
	}
	return fmt.Sprintf(in(about, "session %s of %s", "会话 %s，%s"), a.session, day)
}

// keep remembers an archive, unless it is empty.
func (a assignment) keep(ctx context.Context, writer Writer, stream string, fact domain.SessionExtracted) error {
	archive := a.archive(stream, fact)
	if archive.Knowledge.Text.Content == "" {
		return nil
	}
	command, err := archive.Complete()
	if err == nil {
		origin := domain.Origin{CorrelationID: a.task, CausationID: a.task, OccurredAt: a.messages[0].At}
		_, err = writer.Submit(ctx, domain.Submission{Command: command, By: command.By, Origin: origin})
	}
	return final(ctx, a.logger.With("item", archive.ID), err)
}

// origin names the first message of a lesson as its cause.
func (a assignment) origin(l domain.Lesson) domain.Origin {
	origin := domain.Origin{CorrelationID: a.task, OccurredAt: a.lessonTime(l)}
	if len(l.Sources) > 0 {
		origin.CausationID = l.Sources[0]
	}
	return origin
}

// single is the command for a lesson that concerns one item; false if it needs no command, or several.
func (a assignment) single(l domain.Lesson) (domain.Command, bool) {
	switch l.Decision {
	case domain.DecideVote:
		return domain.GiveFeedback{
			Target: domain.Target{By: a.by(), ID: l.Target}, Verdict: domain.Helpful, TraceID: a.task, Outcome: "said again",
			Repeated: true, Day: time.Now(),
		}, true
	case domain.DecideCreate:
		command, err := a.remember(l, nil).Complete()
		return command, err == nil
	}
	return nil, false
}

// replace remembers an item and supersedes the target with it.
func (a assignment) replace(ctx context.Context, reader Reader, writer Writer, l domain.Lesson) error {
	target, err := reader.Find(ctx, a.tenant, l.Target)
	switch {
	case refused(err): // the target is gone: nothing is replaced
		return final(ctx, a.about(l), a.elsewhere(ctx, writer, l, nil))
	case err != nil:
		return err
	}
	by := a.by()
	if target.Owner != a.owner {
		by = a.countsOwner()
	}
	submit := func(command domain.Command) error {
		_, err := writer.Submit(ctx, domain.Submission{Command: command, By: by, Origin: a.origin(l)})
		return err
	}
	if l.Text.URI != "" && target.Text.URI == l.Text.URI {
		aside := strings.TrimSuffix(l.Text.URI, ".md") + "@" + l.Item + ".md"
		if err := final(ctx, a.about(l),
			submit(domain.Revise{Target: domain.Target{By: by, ID: target.ID}, URI: aside})); err != nil {
			return err
		}
	}
	command, err := a.remember(l, target).Complete()
	if err == nil {
		err = submit(command)
	}
	if errors.Is(err, domain.ErrTaken) && l.Text.URI != "" {
		err = a.elsewhere(ctx, writer, l, target)
	}
	if err := final(ctx, a.about(l), err); err != nil {
		return err
	}
	return final(ctx, a.about(l),
		submit(domain.Supersede{Target: domain.Target{By: by, ID: target.ID}, Successor: l.Item, Reason: l.Text.Reason}))
}

// elsewhere remembers an item under another URI, since its own is taken. A shared item stays in the shared directory.
func (a assignment) elsewhere(ctx context.Context, writer Writer, l domain.Lesson, target *domain.Knowledge) error {
	if l.Text.URI != "" {
		l.Text.URI = string(domain.URI(l.Text.URI).Parent().Join(l.Item + ".md"))
	}
	command, err := a.remember(l, target).Complete()
	if err != nil {
		return err
	}
	_, err = writer.Submit(ctx, domain.Submission{Command: command, By: command.By, Origin: a.origin(l)})
	return err
}

// vote votes for the item, or for the skill in the directory, that helped. It ignores what does not exist.
func (a assignment) vote(ctx context.Context, reader Reader, writer Writer, help domain.Help) error {
	page, err := reader.List(ctx, domain.List{By: a.by(), Filter: domain.Filter{URIPrefix: help.URI}, Limit: neighbours})
	if err != nil {
		return final(ctx, a.logger, err)
	}
	for _, k := range page.Items {
		if k.Text.URI != help.URI && k.Text.URI != help.URI+"/"+domain.SkillName {
			continue
		}
		_, err := writer.Submit(ctx, domain.Submission{
			Command: domain.GiveFeedback{
				Target: domain.Target{By: a.by(), ID: k.ID}, Verdict: domain.Helpful, TraceID: a.task,
				Outcome: "used in session " + a.session,
				Day:     time.Now(),
			},
			By: a.by(), Origin: domain.Origin{CorrelationID: a.task, CausationID: help.EventID},
		})
		return final(ctx, a.logger.With("item", k.ID), err)
	}
	return nil
}

// about is the logger for a lesson.
func (a assignment) about(l domain.Lesson) *slog.Logger {
	return a.logger.With("decision", l.Decision, "item", cmp.Or(l.Target, l.Item))
}

// final turns a refusal into a log line: people have changed something meanwhile, so the decision cannot be carried
// out. It returns other errors, which may be temporary.
func final(ctx context.Context, logger *slog.Logger, err error) error {
	if refused(err) {
		logger.InfoContext(ctx, "what was decided on is refused, and left out", "error", err)
		return nil
	}
	return err
}

// refused tells a refusal, which is permanent, from a temporary error.
func refused(err error) bool {
	for _, refusal := range []error{
		domain.ErrInvalid, domain.ErrNotFound, domain.ErrForbidden, domain.ErrTaken, domain.ErrConflict, domain.ErrDeleted,
		domain.ErrErased,
	} {
		if errors.Is(err, refusal) {
			return true
		}
	}
	return false
}
