package domain

// Why an item is affected by a containment.
const (
	WhyNamed   = "named"   // by the caller
	WhyWritten = "written" // the source wrote it, or changed its text
	WhyDerived = "derived" // it was made from an affected item, or from a message of the source
	WhyMerged  = "merged"  // an affected item was merged into it
	WhyCopied  = "copied"  // it says what an affected item said before
)

// ContainmentEffect is what a containment would do.
type ContainmentEffect struct {
	Items   []Affected // that the caller may contain, in the order in which they were remembered
	Others  int        // items that the caller may not contain
	Already int        // items that are quarantined already
	Scopes  []ContainedScope
	Votes   []VotesOn // of the actor, on items that are not affected
	Revived []Revive
	Digest  string // the same as long as the effect is
	Answers int64  // that had any of the items; -1 if that is not known
	Told    []Entity
}

// Affected is an item that a containment quarantines.
type Affected struct {
	ID     string
	Number int64
	Why    string
}

// VotesOn are votes on an item.
type VotesOn struct {
	ID    string
	Votes []string // the ids of their events
}

// Discounted is how many votes do not count any more.
func (e ContainmentEffect) Discounted() (votes int) {
	for _, v := range e.Votes {
		votes += len(v.Votes)
	}
	return votes
}

// mostContainedScopes limits the scopes that a containment records: those with the most items.
const mostContainedScopes = 100

// Commands are the commands of the containment.
func (e ContainmentEffect) Commands(
	by Principal, id string, t Tainting, reason string,
) (first Contain, then []Command) {
	first = Contain{By: by, ID: id, Applied: ContainmentApplied{
		Items: len(e.Items), Votes: e.Discounted(), Revived: len(e.Revived),
		Scopes: e.Scopes[:min(len(e.Scopes), mostContainedScopes)],
		Named:  t.Items, Actor: t.Actor, Session: t.Session, Since: t.Since, Source: t.Source, Reason: reason,
	}}
	for _, i := range e.Items {
		first.Items = append(first.Items, i.ID)
		then = append(then, Quarantine{Target: Target{By: by, ID: i.ID}, Containment: id, Reason: reason})
	}
	for _, v := range e.Votes {
		then = append(then, DiscountVotes{Target: Target{By: by, ID: v.ID}, Containment: id, Votes: v.Votes})
	}
	for _, r := range e.Revived {
		then = append(then, r)
	}
	return first, then
}

// RecordedContainment is a containment that was applied.
type RecordedContainment struct {
	ID string
	Containment
	Applied ContainmentApplied
	Event   string // the id of its first event, which is the cause of the others
}
