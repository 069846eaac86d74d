// Package search joins what words and vectors find, reads the best candidates and lets [domain.Rank] decide their
// order.
//
// Its one rule: nothing is read of an item that its audience may not see.
package search
