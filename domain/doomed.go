package domain

// Doomed is something that an order erases, or would, or that is related to it.
type Doomed struct {
	Stream    string
	ID        string // of an item
	Owner     Entity
	Status    Status // of an item
	Held      bool
	State     State  // of another thing
	Relation  string // to RelatedTo, see [Kin]; empty if it was named itself
	RelatedTo string
	Goes      bool // it is erased; what is related stays unless somebody asks for it
}

// Erasing is the command that erases it.
func (d Doomed) Erasing(by Principal, grounds Grounds) Command {
	if d.ID != "" {
		return Erase{Target: Target{By: by, ID: d.ID}, Grounds: grounds}
	}
	if own, is := d.State.(Erasable); is {
		return own.Erasing(by, d.Stream, grounds)
	}
	return EraseTexts{By: by, Of: d.Stream, Grounds: grounds}
}

// Following is what becomes of what is related to what is erased.
type Following int

// It is not looked for, or listed, or erased, too.
const (
	LineageIgnored Following = iota
	LineageListed
	LineageErased
)
