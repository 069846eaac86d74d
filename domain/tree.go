package domain

// Directory asks what lies directly in a directory, in the order of names. Directories are made by what
// lies in them: one where nobody sees anything is not there.
type Directory struct {
	By    Principal
	URI   URI
	After DirectoryEntry // only what comes after this one; none from the beginning
	Limit int
}

// DirectoryEntry is what lies in a directory: an item, or a directory of its own.
type DirectoryEntry struct {
	URI   URI
	IsDir bool
	First *Knowledge // the item; of a directory, the first of all that lies in it
}

// Walk asks for the items anywhere below a directory, in the order of URIs.
type Walk struct {
	By    Principal
	Below URI
	After URI // only what comes after this; empty from the beginning
	Limit int
}

// Leaf is an item below a directory: where it lies, and what it says if that was asked for.
type Leaf struct {
	URI     URI
	Content string
}
