// Package catalogue knows the versions of the projections: which of them are read, which are written, and with which
// settings each was built.
//
// Its one rule: a request takes one [View] when it begins and reads nothing else, so that it never reads from two
// versions.
package catalogue
