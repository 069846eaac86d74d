// Package operate registers the operations on projections: their versions, rebuilds and quarantines.
package operate
