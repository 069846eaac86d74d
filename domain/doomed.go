package domain

// ErasureTarget is something that an order erases, or would, or that is related to it.
type ErasureTarget struct {
	Stream    string
	ID        string // of an item
	Owner     Entity
	Status    Status // of an item
	Held      bool
	State     State  // of another thing
	Relation  string // to RelatedTo, see [LineageRelation]; empty if it was named itself
	RelatedTo string
	WillErase bool // it is erased; what is related stays unless somebody asks for it
}

// Retained says why an order of by's leaves what it would erase: what is another's, what is under legal hold, and the
// sessions of which an archive stays, since those go first. By stream; what goes is not in it.
func Retained(by Principal, all []ErasureTarget) map[string]string {
	why := map[string]string{}
	for _, d := range all {
		if reason := d.ReasonRetained(by); d.WillErase && reason != "" {
			why[d.Stream] = reason
		}
	}
	for _, d := range all {
		session, is := d.State.(Session)
		if !is || !d.WillErase || why[d.Stream] != "" {
			continue
		}
		for _, id := range session.ArchiveItems(d.Stream) {
			if why[KnowledgeStream(id)] != "" {
				why[d.Stream] = "its archive " + id + " stays"
			}
		}
	}
	return why
}

// ReasonRetained says why by may not erase it, or order to; empty if he may.
func (d ErasureTarget) ReasonRetained(by Principal) string {
	switch k := (&Knowledge{ID: d.ID, Owner: d.Owner, Held: d.Held}); {
	case d.ID == "":
		if by.IsTenantAdmin() || by.isSelf(d.Owner) {
			return ""
		}
		return d.Stream + " may be erased by " + erasers(d.Owner)
	case !by.MayErase(k):
		return notYoursToErase(k).Detail
	case k.Held:
		return k.ID + " is under legal hold"
	}
	return ""
}

// EraseCommand is the command that erases it.
func (d ErasureTarget) EraseCommand(by Principal, reason ErasureReason) Command {
	if d.ID != "" {
		return Erase{Target: Target{By: by, ID: d.ID}, ErasureReason: reason}
	}
	if own, is := d.State.(Erasable); is {
		return own.EraseCommand(by, d.Stream, reason)
	}
	return EraseTexts{By: by, Of: d.Stream, ErasureReason: reason}
}

// LineageMode is what becomes of what is related to what is erased.
type LineageMode int

// It is not looked for, or listed, or erased, too.
const (
	LineageIgnored LineageMode = iota
	LineageListed
	LineageErased
)
