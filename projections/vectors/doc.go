// Package vectors is the background projection of embeddings, and finds the items whose vectors are nearest to that
// of a question.
//
// Its one rule: a question is embedded by the model of the vectors that it is compared with.
package vectors
