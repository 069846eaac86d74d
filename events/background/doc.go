// Package background runs work beside commands: in bounded steps, which yield while commands run.
//
// Its one rule: while commands run, all background work of a process together takes a tenth of the time.
package background
