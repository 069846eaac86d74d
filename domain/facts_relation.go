package domain

// Linked says that an item has to do with another one.
type Linked struct {
	To     string // the other item's id
	Reason string
}

// Unlinked takes that back.
type Unlinked struct{ To string }

// Name implements [Fact].
func (Linked) Name() string { return "relation.linked" }

// Name implements [Fact].
func (Unlinked) Name() string { return "relation.unlinked" }
