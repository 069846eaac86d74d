package domain

import "time"

// MemoryUse is how much a memory has been of use, without what it says.
type MemoryUse struct {
	Category Category
	Votes    int // for and against it, its baseline's included
	Created  time.Time
	Updated  time.Time
}
