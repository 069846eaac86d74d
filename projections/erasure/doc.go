// Package erasure carries out what was ordered to be erased, and purges the files of the database.
//
// Its one rule: the log has what was ordered and what was done, so that any server goes on where another was stopped.
package erasure
