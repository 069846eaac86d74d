package domain

import "time"

// How one thing is related to another.
const (
	DerivedFrom  = "derived_from"  // it was made from the other
	Derives      = "derives"       // the other was made from it
	SupersededBy = "superseded_by" // the other took its place
	Supersedes   = "supersedes"    // it took the other's place
	ArchiveOf    = "archive_of"    // it says what was said in the other, a session, and goes with it
)

// LineageRelation is something that an item goes back to, or that goes back to it.
type LineageRelation struct {
	ID       string // of an item; empty for another thing
	Stream   string
	Relation string // to Of, one of the words above
	Of       string // the other: the id of the item through which it is related
}

// ErasureStatus tells what was erased of a tenant, and whether the files still hold it.
type ErasureStatus struct {
	Erasures int64
	Texts    int64 // that were destroyed
	Unpurged int64 // since the last sweep that was complete; of every tenant, for whoever operates the server
	Oldest   time.Time
	Last     *Purge   // nil if there was none
	Kept     []string // what else may hold it, and for how long
}

// Purge is a rewriting of the database's files, after which they hold nothing of what was erased.
type Purge struct {
	BeganAt  time.Time
	EndedAt  time.Time
	Complete bool
	Notes    []string // what was rewritten, or why not
	ForOwner string   // the command by which the owner of what was left rewrites it; empty if the server may itself
}
