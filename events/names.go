package events

import (
	"maps"
	"slices"
)

// Names lists the names under which facts are recorded, in order.
func (l *Log) Names() []string { return slices.Sorted(maps.Keys(kinds)) }
