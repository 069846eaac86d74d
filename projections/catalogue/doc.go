// Package catalogue knows the versions of the projections: which of them readers read, which appends write, and
// with which settings each was built.
//
// Its one rule: a request takes one [View] when it begins and reads nothing else, so that a switch in the meantime
// does not make it read from two versions.
package catalogue
