// Package knowledge is the inline projection: it loads the items that commands read, folds their events, and writes the
// rows in the transaction of the append.
//
// Its one rule: commands decide on the active version alone; a secondary version that cannot be written is abandoned.
package knowledge
