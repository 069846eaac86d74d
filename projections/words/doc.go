// Package words is the inverted index: it cuts items into terms, keeps these in packed rows until it moves them
// into the index, and scores what contains the terms of a question by BM25.
//
// Its one rule: statistics are those of what the audience may see, because others would tell of what is hidden.
package words
