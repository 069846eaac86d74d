// Package vectors is the background projection of embeddings. It finds the items whose vectors are nearest to that of
// a question.
//
// Its one rule: the model that embeds a question is the model of the vectors that it is compared with.
package vectors
