// Package contain finds what a source wrote and what was made of it, quarantines it in one transaction, and undoes
// that.
package contain
