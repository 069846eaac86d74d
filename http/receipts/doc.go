// Package receipts registers the operations on receipts: what callers were given, and the evidence of it.
package receipts
