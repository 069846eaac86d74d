// Package document reads what files say that are not plain text. Its one rule: the author of a file is trusted with
// nothing. A library that may be led into endless work or endless memory reads in a process of its own, which is
// ended; everything else reads no more than it was told to.
package document
