package domain

import (
	"cmp"
	"slices"
	"time"
)

// Contribution is what a user did for an item.
type Contribution struct {
	Item      string // its id
	User      Entity
	Wrote     bool
	Confirmed bool
	Thanked   int // helpful votes of others, if the user wrote
	Last      time.Time
}

// Expert is a user who wrote about a subject, confirmed it, or was thanked for it.
type Expert struct {
	User             Entity
	Wrote, Confirmed int // items
	Thanked          int // helpful votes of others on what the user wrote
	Last             time.Time
	Active           bool // not deactivated
	Alone            bool // wrote about it, and nobody else who is active did
}

// ExpertsOf sums up contributions by user: active users first, then those who did most.
func ExpertsOf(all []Contribution, deactivated func(Entity) bool) (experts []Expert) {
	at, active := map[Entity]int{}, 0
	for _, one := range all {
		i, known := at[one.User]
		if !known {
			i = len(experts)
			at[one.User], experts = i, append(experts, Expert{User: one.User, Active: !deactivated(one.User)})
		}
		e := &experts[i]
		if one.Wrote {
			e.Wrote++
		}
		if one.Confirmed {
			e.Confirmed++
		}
		if e.Thanked += one.Thanked; one.Last.After(e.Last) {
			e.Last = one.Last
		}
	}
	for _, e := range experts {
		if e.Active && e.Wrote > 0 {
			active++
		}
	}
	for i := range experts {
		experts[i].Alone = active == 1 && experts[i].Active && experts[i].Wrote > 0
	}
	slices.SortFunc(experts, func(a, b Expert) int {
		switch {
		case a.Active && !b.Active:
			return -1
		case b.Active && !a.Active:
			return 1
		}
		return cmp.Or(cmp.Compare(b.did(), a.did()), b.Last.Compare(a.Last), cmp.Compare(a.User, b.User))
	})
	return experts
}

func (e Expert) did() int { return e.Wrote + e.Confirmed + e.Thanked }

// SubjectsKind is what the subjects of items are.
type SubjectsKind string

// The kinds of subjects: the first of which any item has some.
const (
	ByTag      SubjectsKind = "tag"
	ByCategory SubjectsKind = "category"
	ByType     SubjectsKind = "type"
)

// Classified are items with their subjects.
type Classified struct {
	Kind  SubjectsKind
	Items map[string][]string // the subjects of each item, by its id
}

// Week counts what happened to the items of a scope in seven days.
type Week struct {
	Since     time.Time
	Learnt    int // items that were remembered
	Confirmed int // items that were confirmed
	Wrong     int // items that were found harmful, reported stale or disputed
}
