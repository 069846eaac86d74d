// Package words is the inverted index. It cuts items into terms, which go into changes first and into blocks
// later, and scores the items that contain a question's terms by BM25.
//
// Its one rule: statistics count only what the audience may see, because others would reveal hidden items.
package words
