// Package text states what words are.
//
// Its one rule: a document and a question are cut by the same code into the same terms, whatever
// engine stores them. A change of that code changes what is found, so it carries a version.
package text

// TokenizerVersion names the rules by which Terms cuts text. Stored terms of another version must be
// made again: a search compares terms byte for byte.
const TokenizerVersion = "1"

// MaxTermBytes is the length of the longest term.
const MaxTermBytes = 64
