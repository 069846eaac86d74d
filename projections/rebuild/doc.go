// Package rebuild computes a version of the knowledge projection from the log, beside the active one. It loads,
// indexes, catches up, verifies and switches, and rolls back.
//
// Its one rule: each step is recorded in the transaction that does it, so that an interrupted rebuild loses nothing.
package rebuild
