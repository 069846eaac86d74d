// Package projections assembles the projections that answer questions about what happened.
//
// Its one rule: everything here can be thrown away and computed again from the log. The knowledge tables are
// written in the transaction of the append, so that a caller can read at once what it wrote; vectors and the past
// follow in the background.
//
//	tables                                     package
//	knowledge_N, _blocks, _changes, _votes, _reports     knowledge
//	knowledge_N_blocks, _changes             words
//	meaning_N, vectors_N, spaces               vectors
//	past_N and its parts                       past
//	projections, rebuild_slices                catalogue, rebuild
//	directories                                browse
//	key_uses                                   sessions
//	receipt_pages, receipt_runs, item_uses     receipts
//	purges                                     erasure
//
// Imports point one way: rows, catalogue, words, vectors and browse, knowledge and search, past, rebuild, projections.
package projections
