// Package embedding turns texts into vectors that are close together if the texts have a similar meaning.
//
// Its one rule: a vector belongs to the space that its embedder names. Vectors of different spaces are never
// compared.
package embedding
