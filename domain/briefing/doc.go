// Package briefing tells agents what they should know at a stage of their work. It makes a few searches and lists,
// selects the best items of each aspect, and writes them down within a number of tokens.
//
// Its one rule: it adds nothing to what searches and lists show the caller.
package briefing
