// Package briefing tells agents what they should know at a moment of their work: it asks a few searches and
// lists at once, takes the best of each kind, and writes them down within a number of tokens.
//
// Its one rule: it adds nothing to what searches and lists show the caller.
package briefing
