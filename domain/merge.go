package domain

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// MostMerged limits the items that one merge supersedes.
const MostMerged = 20

// Merge asks to let an item, the survivor, take the place of others. The stewards of all items may do so; only who may
// change the survivor may change its text. Submit it with [Merge.Then].
type Merge struct {
	Target
	Items      []string // ids of the others
	Read       []int64  // the revisions of the others that the caller has read, in the order of Items; nil for any
	Changes    Revised  // the survivor's new task, content and abstract; nil fields stay
	CarryVotes bool     // the others' votes count for the survivor
	Reason     string
}

// Validate names every bad field at once.
func (c Merge) Validate() error {
	var p Problems
	checkItems(&p, c.Items, 1, MostMerged)
	if slices.Contains(c.Items, c.ID) {
		p.Add("items", "must not contain %s itself", c.ID)
	}
	if c.Read != nil && len(c.Read) != len(c.Items) {
		p.Add("revisions", "must be one for each of items")
	}
	texts := Revise{Target: c.Target, Changes: c.Changes, Reason: c.Reason}.Validate()
	if invalid, is := errors.AsType[*Invalid](texts); is {
		p = append(p, invalid.Problems...)
	}
	return p.Err()
}

// checkItems checks a list of ids.
func checkItems(p *Problems, ids []string, least, most int) {
	if len(ids) < least || len(ids) > most {
		p.Add("items", "must be %d to %d ids of items", least, most)
	}
	for i, id := range ids {
		checkID(p, fmt.Sprintf("items[%d]", i), id)
		if slices.Contains(ids[:i], id) {
			p.Add(fmt.Sprintf("items[%d]", i), "is named twice")
		}
	}
}

// Then are the commands that supersede the others, and that close proposals about the items. closing are the ids of
// those proposals.
func (c Merge) Then(closing []string) []Command {
	var then []Command
	for _, id := range c.Items {
		then = append(then, Supersede{
			Target: Target{By: c.By, ID: id}, Successor: c.ID, Carried: c.CarryVotes, Reason: c.Reason,
		})
	}
	for _, id := range closing {
		then = append(then, CloseProposal{By: c.By, ID: id, Outcome: OutcomeMerged, IfOpen: true})
	}
	return then
}

func (c Merge) Reads() Reads {
	return Reads{Items: c.Items, VotesOf: append([]string{c.ID}, c.Items...), Streams: []string{VerificationStream}}
}

// survivor finds the item that stays. Only who may change it may give it other texts.
func (t Target) survivor(dc DecisionContext, changes Revised) (*Knowledge, error) {
	k, err := t.stewarded(dc)
	if err == nil && changes != (Revised{}) && !t.By.MayChange(k) {
		err = Refuse(ErrForbidden, "%s belongs to %s, and only who may change it may give it another text", k.ID, k.Owner).
			WithFix("leave its text as it is, or ask its owner or an admin")
	}
	return k, err
}

// Decide implements [Command]. It refuses the survivor first, and then names all other items that are in the way.
func (c Merge) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.survivor(dc, c.Changes)
	if err != nil {
		return nil, err
	}
	if k.Status == IsSuperseded {
		return nil, Refuse(ErrConflict, "%s is itself %s", k.ID, c.By.superseded(k)).
			WithFix("let an item survive that still holds")
	}
	if err := c.refused(dc, k); err != nil {
		return nil, err
	}
	if err := mustApprove(dc, k, k.Scopes, k.Type, c.By.Trust()); err != nil {
		return nil, err
	}
	merged := Merged{Items: c.Items, Reason: c.Reason}
	for _, id := range c.Items {
		merged.DerivedFrom = append(merged.DerivedFrom, dc.NewestID(KnowledgeStream(id)))
	}
	if c.CarryVotes {
		merged.Votes = c.carried(dc, k)
		merged.Helpful, merged.Harmful = sums(merged.Votes)
	}
	from := []Trust{}
	for _, id := range c.Items {
		from = append(from, dc.Knowledge(id).Trust())
	}
	revised, changed := c.Changes.withoutSummary(dc, k).different(k)
	if changed {
		from = append(from, c.By.Trust())
	}
	merged.Trust = k.lowered(from...)
	if merged.Revises = changed; !changed {
		return []Fact{merged}, nil
	}
	return []Fact{merged, revised}, nil // who may not see what was merged sees the revision, and so no reason
}

// carried are the votes of the others that count for k from now on, the oldest first: each once, and of a voter and a
// day no more than k may have. If a ballot has a vote already, the name of the carried one's ballot gets that of the
// item.
func (c Merge) carried(dc DecisionContext, k *Knowledge) []Vote {
	counted := map[string]int{}
	keysOf := func(v Vote) [3]string {
		voter := string(v.Voter) + " "
		return [3]string{v.EventID, voter + v.Ballot, voter + v.At.UTC().Format(time.DateOnly)}
	}
	count := func(v Vote) {
		for _, key := range keysOf(v) {
			counted[key]++
		}
	}
	for _, v := range k.Votes {
		count(v)
	}
	var votes []Vote
	from := map[string]string{}
	for _, id := range c.Items {
		for event, v := range dc.Knowledge(id).Votes {
			if from[event] == "" && v.Verdict.counts() {
				from[event], votes = id, append(votes, v)
			}
		}
	}
	slices.SortFunc(votes, func(a, b Vote) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.EventID, b.EventID))
	})
	kept := votes[:0]
	for _, v := range votes {
		if counted[keysOf(v)[1]] > 0 {
			v.Ballot += " of " + from[v.EventID]
		}
		if key := keysOf(v); counted[key[0]]+counted[key[1]] == 0 && counted[key[2]] < MostTraces {
			count(v)
			v.Query, v.Outcome = "", ""
			kept = append(kept, v)
		}
	}
	return kept
}

// sums counts votes by their verdicts.
func sums(votes []Vote) (helpful, harmful int) {
	for _, v := range votes {
		if v.Verdict == Helpful {
			helpful++
		}
	}
	return helpful, len(votes) - helpful
}

// refused refuses others that do not exist, of which the caller is no steward, that are superseded, or that are not in
// the revision that the caller has read.
func (c Merge) refused(dc DecisionContext, k *Knowledge) error {
	var p Problems
	var superseded, changed, hidden []string
	for i, id := range c.Items {
		other := dc.Knowledge(id)
		if missing := c.By.missing(other); missing != "" {
			p.Miss(fmt.Sprintf("items[%d]", i), missing)
		} else if other.Status == IsSuperseded {
			superseded = append(superseded, id+" is "+c.By.superseded(other))
		} else if c.Read != nil && other.Revision != c.Read[i] {
			changed = append(changed, fmt.Sprintf("%s is at revision %d, not %d", id, other.Revision, c.Read[i]))
		} else if !mayReplace(c.By, other, k) {
			hidden = append(hidden, id)
		}
	}
	if err := p.Err(); err != nil {
		return err
	}
	if err := mayStewardAll(c.By, dc, c.Items); err != nil {
		return err
	}
	if len(superseded) > 0 {
		return Refuse(ErrConflict, "%s", strings.Join(superseded, "; ")).WithFix("merge items that still hold")
	}
	if len(changed) > 0 {
		return Refuse(ErrPrecondition, "%s", strings.Join(changed, "; ")).WithFix("read them again and decide anew")
	}
	if len(hidden) > 0 {
		return narrower(k, hidden)
	}
	return nil
}

// mayStewardAll refuses a caller p that is not a steward of all items, and names those.
func mayStewardAll(p Principal, dc DecisionContext, ids []string) error {
	var denied []string
	policies := StateOf[Verification](dc, VerificationStream)
	for _, id := range ids {
		if k := dc.Knowledge(id); !p.MaySee(k) {
			denied = append(denied, id+" is not shared with you")
		} else if !p.MaySteward(k, policies) {
			denied = append(denied, fmt.Sprintf("%s belongs to %s", id, k.Owner))
		}
	}
	if len(denied) == 0 {
		return nil
	}
	return Refuse(ErrForbidden, "%s", strings.Join(denied, "; ")).
		WithFix("ask their owners, their stewards or an admin; or propose it: annals propose")
}

// Unmerge asks to undo a merge. [UndoMerge] makes it. Submit it with [Unmerge.Then].
type Unmerge struct {
	Target
	Merge   string // the event id of the merge; empty if there is none to undo
	Merged  Merged
	Changes Revised // the survivor's former text, as far as the merge changed it and it still has that text
	Reason  string
}

// UndoMerge is the command that undoes the newest merge of an item that was not undone yet. history are all events of
// the item, the oldest first. The command is for the revision at the end of the history.
func UndoMerge(t Target, history []Event, reason string) (Unmerge, error) {
	type merge struct {
		event  Event
		before Text
		wrote  Revised
	}
	var merges []merge
	k := &Knowledge{ID: t.ID}
	for _, event := range history {
		switch f := event.Fact.(type) {
		case Merged:
			merges = append(merges, merge{event: event, before: k.Text})
		case Unmerged:
			merges = slices.DeleteFunc(merges, func(m merge) bool { return m.event.EventID == f.Merge })
		case Revised:
			if n := len(merges); n > 0 && merges[n-1].event.Version == event.Version-1 &&
				merges[n-1].event.Fact.(Merged).Revises {
				merges[n-1].wrote = f
			}
		}
		if err := k.Evolve(event.Fact, event.Metadata(), HalfDiscounted()); err != nil {
			return Unmerge{}, err
		}
	}
	c := Unmerge{Target: t, Reason: reason}
	if t.Revisions == nil || slices.Contains(t.Revisions, k.Revision) {
		c.Revisions = []int64{k.Revision}
	}
	if len(merges) == 0 {
		return c, nil
	}
	last := merges[len(merges)-1]
	c.Merge, c.Merged = last.event.EventID, last.event.Fact.(Merged)
	for _, text := range []struct {
		wrote       *string
		now, before string
		put         **string
	}{
		{last.wrote.Task, k.Text.Task, last.before.Task, &c.Changes.Task},
		{last.wrote.Content, k.Text.Content, last.before.Content, &c.Changes.Content},
		{last.wrote.Abstract, k.Text.Abstract, last.before.Abstract, &c.Changes.Abstract},
		{last.wrote.Overview, k.Text.Overview, last.before.Overview, &c.Changes.Overview},
	} {
		if text.wrote != nil && *text.wrote == text.now {
			*text.put = &text.before
		}
	}
	return c, nil
}

// Validate names every bad field at once.
func (c Unmerge) Validate() error { return checkReason(c.Reason) }

// Then are the commands that restore the others, as far as the survivor still supersedes them.
func (c Unmerge) Then() (then []Command) {
	for _, id := range c.Merged.Items {
		then = append(then, Restore{Target: Target{By: c.By, ID: id}, Successor: c.ID, Reason: c.Reason})
	}
	return then
}

func (c Unmerge) Reads() Reads {
	return Reads{Items: c.Merged.Items, VotesOf: []string{c.ID}, Streams: []string{VerificationStream}}
}

// Decide implements [Command]. The owners of the survivor and of the others may always undo a merge; only who may
// change the survivor changes its text. Of other stewards it refuses the survivor first, and then names all items that
// are in the way.
func (c Unmerge) Decide(dc DecisionContext, _ time.Time) ([]Fact, error) {
	k, err := c.visible(dc)
	var back []string
	owns := err == nil && c.By.MayChange(k)
	for _, id := range c.Merged.Items {
		other := dc.Knowledge(id)
		if other.Status == IsSuperseded && other.SupersededBy == c.ID {
			back = append(back, id)
			owns = owns || err == nil && c.By.MayChange(other)
		}
	}
	if !owns {
		if k, err = c.survivor(dc, c.Changes); err == nil {
			err = mayStewardAll(c.By, dc, back)
		}
	} else if err = c.expected(k); !c.By.MayChange(k) {
		c.Changes = Revised{}
	}
	if err != nil {
		return nil, err
	}
	if c.Merge == "" {
		return nil, Refuse(ErrConflict, "%s has no merge that could be undone", k.ID)
	}
	if err := carriedOn(c.By, dc, k); err != nil {
		return nil, err
	}
	undone := Unmerged{
		Merge: c.Merge, Items: back, Helpful: min(c.Merged.Helpful, k.Helpful), Harmful: min(c.Merged.Harmful, k.Harmful),
		Reason: c.Reason,
	}
	if len(c.Merged.Votes) > 0 {
		left := func(v Vote) bool { return k.Votes[v.EventID].EventID == "" }
		votes := slices.DeleteFunc(slices.Clone(c.Merged.Votes), left)
		undone.Helpful, undone.Harmful = sums(votes)
		for _, v := range votes {
			undone.Votes = append(undone.Votes, v.EventID)
		}
	}
	facts := []Fact{undone}
	if revised, changed := c.Changes.different(k); changed {
		facts = append(facts, revised)
	}
	return facts, nil
}

func (c Merge) RewriteText(r TextRewriter) Command {
	c.Changes = Revise{Changes: c.Changes}.RewriteText(r).(Revise).Changes
	r.all(&c.Reason)
	return c
}

// RewriteText implements [TextCommand]. The texts of the survivor come from the log, from before today's rules.
func (c Unmerge) RewriteText(r TextRewriter) Command {
	c.Changes = Revise{Changes: c.Changes}.RewriteText(r).(Revise).Changes
	r.all(&c.Reason)
	return c
}

var (
	_ TextCommand = Merge{}
	_ TextCommand = Unmerge{}
)
