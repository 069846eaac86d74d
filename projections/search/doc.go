// Package search joins what words and vectors find, reads the best candidates and lets [domain.Rank] order them.
//
// Its one rule: it reads nothing of an item that the audience may not see.
package search
