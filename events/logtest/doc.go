// Package logtest holds every log to the promises of package events, whichever inline projection is
// written with it and whichever database it lies in.
package logtest
