// Package contain registers the operations on containments.
package contain
