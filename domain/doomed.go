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

// Kept are the streams of what stays though it is to be erased: what is under legal hold, and the sessions whose
// archives are, since those go first.
func Kept(all []Doomed) map[string]bool {
	kept := map[string]bool{}
	for _, d := range all {
		if d.Goes && d.Held {
			kept[d.Stream] = true
		}
	}
	for _, d := range all {
		session, is := d.State.(Session)
		if !is || !d.Goes {
			continue
		}
		for _, id := range session.ArchiveItems(d.Stream) {
			if kept[KnowledgeStream(id)] {
				kept[d.Stream] = true
			}
		}
	}
	return kept
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
