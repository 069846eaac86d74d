// Package embedding turns text into vectors that lie close together where the texts mean the same.
//
// Its one rule: a vector belongs to the space its embedder names. Vectors of different names are never compared.
package embedding
