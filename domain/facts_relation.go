package domain

// Linked says that an item has to do with another one.
type Linked struct {
	To     string `data:"to"` // the other item's id
	Reason string `text:"reason,omitempty"`
}

// Unlinked takes that back.
type Unlinked struct {
	To string `data:"to"`
}

// Name implements [Fact].
func (Linked) Name() string { return "relation.linked" }

// Name implements [Fact].
func (Unlinked) Name() string { return "relation.unlinked" }
