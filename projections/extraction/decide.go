package extraction

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text/compare"
)

// Reader reads existing knowledge.
type Reader interface {
	Find(ctx context.Context, tenant, id string) (*domain.Knowledge, error)
	List(ctx context.Context, list domain.List) (domain.ListPage, error)
}

// Searcher searches existing knowledge.
type Searcher interface {
	// SearchAll answers complete searches, in order. It embeds equal texts once.
	SearchAll(ctx context.Context, searches []domain.Search) ([]domain.Answer, error)
}

// assignment is an archive to extract.
type assignment struct {
	tenant   string
	owner    domain.Entity
	session  string // its id
	agent    string
	task     string // id of the event of the commit
	audience []domain.Scope
	learned  []domain.Scope // of lessons about tools, skills, patterns and antipatterns; empty for the audience
	retry    int            // 0 for the first attempt, else the number of the retry
	messages []Message
	logger   *slog.Logger
}

// by is the principal of the resulting commands: the server itself, for the session's owner.
func (a assignment) by() domain.Principal {
	var audience []domain.Entity
	all := append(slices.Clip(a.audience), a.learned...)
	for _, scope := range all {
		if scope != domain.Public {
			audience = append(audience, scope.Entity())
		}
	}
	return domain.Principal{
		Tenant: a.tenant, Memberships: audience, Subject: domain.SystemPrincipal().Subject, OnBehalfOf: a.owner,
		Role:           domain.Service,
		Authentication: domain.SystemPrincipal().Authentication, PublishPublic: slices.Contains(all, domain.Public),
	}
}

// countsOwner is the owner of the counts of tools and skills that all users share, whichever session counted them
// first.
func (a assignment) countsOwner() domain.Principal {
	p := a.by()
	p.OnBehalfOf = ""
	return p
}

// scopes are the scopes of a finding: a finding about the owner is for the owner alone.
func (a assignment) scopes(f LessonDraft) []domain.Scope {
	switch {
	case f.Private != "" || f.Category.AboutUser():
	case f.Category.IsLesson() && len(a.learned) > 0:
		return a.learned
	case len(a.audience) > 0:
		return a.audience
	}
	return []domain.Scope{a.owner.Scope()}
}

// shared reports whether a finding lies in a directory that all users share.
func (a assignment) shared(f LessonDraft) bool {
	return slices.Contains(a.scopes(f), domain.Public)
}

// reaches reports whether the audience of a finding may see an item with these scopes. The owner sees all compared
// items.
func (a assignment) reaches(scopes []domain.Scope, f LessonDraft) bool {
	return slices.Contains(scopes, domain.Public) || !slices.ContainsFunc(a.scopes(f), func(s domain.Scope) bool {
		return s != a.owner.Scope() && !slices.Contains(scopes, s)
	})
}

// sameScopes reports whether two audiences are the same, in any order.
func sameScopes(x, y []domain.Scope) bool {
	return slices.Equal(slices.Sorted(slices.Values(x)), slices.Sorted(slices.Values(y)))
}

// decide decides on findings, by existing knowledge and by one another. It changes nothing.
func (a assignment) decide(
	ctx context.Context, reader Reader, searcher Searcher, findings []LessonDraft,
) ([]domain.Lesson, error) {
	var lessons []domain.Lesson
	all := combined(findings)
	slices.SortStableFunc(all, func(x, y LessonDraft) int { return a.draftTime(x).Compare(a.draftTime(y)) })
	for i := range all {
		all[i].Correction = all[i].Correction || retracts(all[i].Content)
	}
	similar, err := a.similar(ctx, searcher, all)
	if err != nil {
		return nil, err
	}
	for i, f := range all {
		lesson, err := a.lesson(ctx, reader, f, similar[i], lessons)
		if err != nil {
			return nil, err
		}
		lessons = append(lessons, lesson)
	}
	return lessons, nil
}

// combined adds up the findings about one tool or skill.
func combined(findings []LessonDraft) []LessonDraft {
	var all []LessonDraft
	at := map[string]int{}
	for _, f := range findings {
		if !keyed(f.Category) || f.Key == "" {
			all = append(all, f)
			continue
		}
		name := string(f.Category) + " " + f.Key + " " + strings.Join(f.Tags[peerTag], " ")
		i, known := at[name]
		if !known {
			at[name] = len(all)
			all = append(all, f)
			continue
		}
		all[i].Content = joined(all[i].Content, f.Content)
		all[i].Private = cmp.Or(all[i].Private, f.Private)
		for _, source := range f.Sources {
			if !slices.Contains(all[i].Sources, source) {
				all[i].Sources = append(slices.Clip(all[i].Sources), source)
			}
		}
		slices.Sort(all[i].Sources)
		if f.Counted != nil {
			sum := *f.Counted
			if all[i].Counted != nil {
				sum = sum.plus(*all[i].Counted)
			}
			all[i].Counted = &sum
		}
	}
	return all
}

// keyed reports whether a category has one item per key.
func keyed(c domain.Category) bool { return c == domain.CategoryTools || c == domain.CategorySkills }

// joined are the lines of two texts without duplicates.
func joined(a, b string) string {
	lines := strings.Split(strings.TrimSpace(a), "\n")
	for line := range strings.SplitSeq(strings.TrimSpace(b), "\n") {
		if !slices.ContainsFunc(lines, func(known string) bool {
			return compare.Items(compare.Item{Content: known}, compare.Item{Content: line}).Kind == compare.Duplicate
		}) {
			lines = append(lines, line)
		}
	}
	return strings.TrimSpace(strings.Join(lines, "\n"))
}

// lesson decides on one finding, given similar items.
func (a assignment) lesson(ctx context.Context, reader Reader, f LessonDraft, similar []domain.Found,
	before []domain.Lesson,
) (domain.Lesson, error) {
	lesson := domain.Lesson{
		Category: f.Category, Polarity: cmp.Or(f.Polarity, polarityOf(f.Category)), Sources: a.sources(f.Sources),
		Decision: domain.DecideCreate,
		Text: domain.LessonText{
			Key: f.Key, Task: f.Task, Content: f.Content, Abstract: f.Abstract, Tags: f.Tags, Meta: f.Meta,
			Reason: "nothing like it is known",
		},
	}
	var learned []neighbour
	for i, other := range before {
		k := &domain.Knowledge{
			ID: other.Item, Owner: a.owner, Scopes: other.Scopes, Text: domain.Text{Content: other.Text.Content},
			Class: domain.Class{Category: other.Category, Polarity: other.Polarity}, DerivedFrom: other.Sources,
			OccurredAt: a.lessonTime(other),
		}
		n := neighbour{item: k, verdict: compared(k, f), keyed: f.Key != "" && f.Key == other.Text.Key, now: true}
		switch { // what a later lesson replaces is not said any more
		case !samePeers(other.Text.Tags, f.Tags), targeted(before[i:], other.Item), targeted(before[i+1:], other.Target):
		case other.Category == f.Category && n.verdict.Kind == compare.Duplicate:
			lesson.Decision, lesson.Text.Reason = domain.DecideSkip, "the conversation says it twice"
			return lesson, nil
		case other.Item != "" && (replaced(n.verdict) || n.fills(f) || n.doubted(f)):
			learned = append(learned, n)
		}
	}
	known, err := a.known(ctx, reader, f, similar)
	if err != nil {
		return lesson, err
	}
	for _, k := range known {
		lesson.Neighbours = append(lesson.Neighbours, domain.Neighbour{ID: k.item.ID, Score: k.score})
	}
	target := a.decideDraft(&lesson, f, append(learned, known...), before)
	switch lesson.Decision {
	case domain.DecideCreate, domain.DecideSupersede:
		lesson.Scopes = a.scopes(f)
	default:
		lesson.Scopes = target.Scopes
	}
	switch {
	case !slices.Equal(lesson.Scopes, []domain.Scope{a.owner.Scope()}):
	case f.Category.AboutUser():
		lesson.Private = aboutUser
	default:
		lesson.Private = cmp.Or(f.Private, unshared)
	}
	if lesson.Decision == domain.DecideSkip || lesson.Decision == domain.DecideVote {
		return lesson, nil
	}
	lesson.Item = itemID(a.task, len(before))
	a.write(&lesson, f, target)
	if _, err := a.remember(lesson, target).Complete(); err != nil {
		lesson.Decision, lesson.Item, lesson.Target, lesson.Scopes, lesson.Private = domain.DecideSkip, "", "", nil, ""
		lesson.Text.Reason = "it cannot be remembered: " + plain(err)
	}
	return lesson, nil
}

func plain(err error) string {
	if invalid, is := errors.AsType[*domain.Invalid](err); is && len(invalid.Problems) > 0 {
		return fmt.Sprintf("%s %s", invalid.Problems[0].Field, invalid.Problems[0].Message)
	}
	return err.Error()
}

func polarityOf(c domain.Category) domain.Polarity {
	if c == domain.CategoryAntipatterns {
		return domain.Negative
	}
	return domain.Positive
}

func (a assignment) sources(messages []int) []string {
	var ids []string
	for _, i := range messages {
		if i >= 0 && i < len(a.messages) && !slices.Contains(ids, a.messages[i].EventID) {
			ids = append(ids, a.messages[i].EventID)
		}
	}
	return ids
}

// decideDraft chooses the decision and its target.
func (a assignment) decideDraft(lesson *domain.Lesson, f LessonDraft, known []neighbour,
	before []domain.Lesson,
) *domain.Knowledge {
	decide := func(decision domain.Decision, k *domain.Knowledge, reason string) *domain.Knowledge {
		lesson.Decision, lesson.Target, lesson.Text.Reason = decision, k.ID, reason
		lesson.Doubts = slices.DeleteFunc(lesson.Doubts, func(id string) bool { return id == k.ID })
		return k
	}
	for _, n := range known {
		if n.verdict.Kind != compare.Duplicate || f.Counted != nil || targeted(before, n.item.ID) ||
			!a.reaches(n.item.Scopes, f) {
			continue
		}
		if f.Category.Immutable() {
			return decide(domain.DecideSkip, n.item, "it is known, and what happened is not told twice")
		}
		return decide(domain.DecideVote, n.item, "it is known, and said again")
	}
	for _, n := range known {
		mine := n.item.Owner == a.owner
		contradicts := n.verdict.Kind == compare.Contradiction
		alike := sameScopes(n.item.Scopes, a.scopes(f)) // an item never reaches a wider audience than before
		switch {
		case targeted(before, n.item.ID):
		case mine && a.draftTime(f).Before(itemTime(n.item)) && !keyed(f.Category):
			if n.fills(f) || n.doubted(f) || f.Correction && replaced(n.verdict) {
				return decide(domain.DecideCreate, n.item, "something newer is known")
			}
		case mine && contradicts && retracts(f.Content):
			return decide(domain.DecideSupersede, n.item, "it says that this no longer holds")
		case mine && n.doubted(f):
			lesson.Doubts = append(lesson.Doubts, n.item.ID)
		case f.Category.Immutable() || n.item.Category.Immutable():
		case keyed(f.Category) && n.keyed && alike && (mine || a.shared(f)):
			return decide(domain.DecideMerge, n.item, "there is one item for all that is known of it")
		case !mine:
		case f.Correction && replaced(n.verdict):
			return decide(domain.DecideSupersede, n.item, "it corrects what was said before")
		case n.fills(f):
			return decide(domain.DecideSupersede, n.item, "there is one such fact, and it has changed")
		case n.now || contradicts || n.verdict.Rule == compare.Unsure || retracts(f.Content+"\n"+n.item.Text.Content):
			// both are kept, and people review them
		case n.keyed && alike && mergeable(f.Category):
			return decide(domain.DecideMerge, n.item, "both are about the same")
		}
	}
	return nil
}

// targeted reports whether a lesson replaces an item.
func targeted(lessons []domain.Lesson, id string) bool {
	return id != "" && slices.ContainsFunc(lessons, func(l domain.Lesson) bool {
		return l.Target == id && (l.Decision == domain.DecideSupersede || l.Decision == domain.DecideMerge)
	})
}

// retracts reports whether a statement ends an earlier one.
func retracts(s string) bool { return either(straight.Replace(s), retracting, retractingChinese) }

// mergeable reports whether two items of a category about the same topic are merged.
func mergeable(c domain.Category) bool {
	return c == domain.CategoryPreferences || c == domain.CategoryEntities || c == domain.CategoryPatterns
}

// write writes the text of the item.
func (a assignment) write(lesson *domain.Lesson, f LessonDraft, target *domain.Knowledge) {
	merging := lesson.Decision == domain.DecideMerge && target != nil
	if merging {
		previous := target.Text.Content
		if keyed(f.Category) {
			_, previous, _ = strings.Cut(previous, "\n") // the counts stand in the first line
			if countsOf(target.Text.Meta).Calls == 0 {
				previous = target.Text.Content
			}
		}
		lesson.Sources = merged(lesson.Sources, target.DerivedFrom)
		lesson.Text.Content = cut(joined(previous, f.Content), domain.MaxContent)
		lesson.Text.Task = cmp.Or(target.Text.Task, f.Task)
		lesson.Text.Tags, lesson.Text.Meta = target.Text.Tags.With(f.Tags), target.Text.Meta
	}
	if lesson.Decision == domain.DecideSupersede { // of what was merged, only one statement is replaced
		rest := slices.DeleteFunc(statements(target), func(line string) bool {
			k := &domain.Knowledge{Class: domain.Class{Polarity: target.Polarity}, Text: domain.Text{Content: line}}
			return replaced(compared(k, f))
		})
		if len(rest) > 0 && len(rest) < len(statements(target)) {
			lesson.Sources = merged(lesson.Sources, target.DerivedFrom)
			lesson.Text.Content = cut(strings.Join(append(rest, f.Content), "\n"), domain.MaxContent)
		}
	}
	name, space := lesson.Item, domain.URIOfNames(a.owner.Kind(), a.owner.ID())
	if keyed(f.Category) && f.Key != "" {
		name = segment(f.Key)
	}
	if a.shared(f) {
		space = domain.URIOfNames(domain.Agent)
	}
	lesson.Text.URI = string(space.Join("memories", string(f.Category), name+".md"))
	if !keyed(f.Category) || f.Key == "" {
		return
	}
	counts := Counts{}
	if merging {
		counts = countsOf(target.Text.Meta)
	}
	if f.Counted != nil {
		counts = counts.plus(*f.Counted)
	}
	if counts.Calls == 0 {
		return
	}
	meta, err := json.Marshal(counted{Name: f.Key, Stats: counts})
	if err != nil {
		return // numbers always marshal
	}
	lesson.Text.Meta = meta
	lesson.Text.Abstract = statistics(f.Key, counts)
	lesson.Text.Content = strings.TrimSpace(lesson.Text.Abstract + "\n" + lesson.Text.Content)
}

// merged are the sources of two texts without duplicates, those of the first in front.
func merged(a, b []string) []string {
	for _, id := range b {
		if len(a) < mostSources && !slices.Contains(a, id) {
			a = append(slices.Clip(a), id)
		}
	}
	return a
}

// segment turns a name into a part of a URI.
func segment(name string) string {
	const most = 50
	clean := []rune(strings.Map(func(r rune) rune {
		if r == '-' || r == '.' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' ||
			r > 0x7f && r != 0xa0 && r != 0x3000 {
			return r
		}
		return '_'
	}, name))
	return strings.Trim(string(clean[:min(len(clean), most)]), ".")
}

// itemID is the id of the item of a task's lesson. It is the same at every attempt.
func itemID(task string, number int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", task, number))
	return fmt.Sprintf("mem_%x", sum[:12])
}
