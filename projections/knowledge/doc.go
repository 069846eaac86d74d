// Package knowledge is the inline projection. It loads the items that commands read, folds their events, and writes
// the rows in the transaction of the append.
//
// Its one rule: commands decide on the active version alone, and a failing secondary version is abandoned.
package knowledge
