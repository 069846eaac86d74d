package domain

// Digest is a SHA-256.
type Digest = [32]byte

// Checkpoint is the size and root hash of a tenant's log, signed. A reader that keeps one can later verify that the
// log was only appended to.
type Checkpoint struct {
	Origin string // which log: the signing key's name, "/", the tenant
	Size   int64  // events, so the position of the last one
	Root   Digest // of the Merkle tree over them
	Note   string // the signed text that says all of this
}

// Entry is the part of an event that proofs use.
type Entry struct {
	EventID  string
	Stream   string
	Position int64
	Hash     []byte // of the record; the leaf of the tree
}

// NoSuchEvent refuses to prove an event that does not exist, or that the caller may not see. It matches
// [ErrNotFound].
func NoSuchEvent() error {
	return Refuse(ErrNotFound, "there is no such event").
		WithFix("name an event by its id, as annals history ID --ids shows it")
}

// Inclusion proves that an event is in the log that a checkpoint describes.
type Inclusion struct {
	Entry
	Record     []byte   // a line of an export as JSON; Hash is its hash
	Leaf       Digest   // of the tree, if it is not the leaf of Hash: then the event was rewritten; else zero
	Path       []Digest // from the leaf's neighbour upwards
	Checkpoint Checkpoint
}

// Consistency proves that the log with To events continues the log with From events.
type Consistency struct {
	From, To         int64
	FromRoot, ToRoot Digest
	Path             []Digest
}
