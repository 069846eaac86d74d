// Package projections answers questions about what happened.
//
// Its one rule: everything here can be thrown away and computed again from the log. The knowledge
// table is written in the append's own transaction, so that what one wrote, one can read at once;
// vectors, which need a model, follow in the background. Search joins words and meaning, reads only
// what its audience may see, and leaves the order to [domain.Rank].
package projections
