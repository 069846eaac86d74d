// Package text splits text into terms.
//
// Its one rule: the same code splits documents and queries into the same terms, whatever engine stores them. A change
// of that code changes search results, so it has a version.
package text

// TokenizerVersion is the version of the rules by which Terms splits text. Terms of another version must be computed
// again: a search compares terms byte for byte.
const TokenizerVersion = "3"

// MaxTermBytes limits the length of a term.
const MaxTermBytes = 64
