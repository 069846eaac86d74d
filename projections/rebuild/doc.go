// Package rebuild computes a version of the knowledge projection anew from the log, beside the active one: it
// loads, indexes, catches up, verifies and switches, and rolls back.
//
// Its one rule: every step is taken in the transaction that does it, so that a process that ends anywhere loses
// nothing.
package rebuild
