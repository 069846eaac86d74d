package main

import (
	"cmp"
	"slices"
)

// question is a vector and words.
type question struct {
	words  string
	vector []float32
}

// best has what an exact search by meaning finds for each question: the ten nearest items so far.
type best struct {
	questions []question
	nearest   [][]scored
}

type scored struct {
	id    string
	score float64
}

func newBest(questions []question) *best { return &best{questions, make([][]scored, len(questions))} }

// learn compares an item with all questions.
func (b *best) learn(id string, vector []float32) {
	for q, question := range b.questions {
		list, score := b.nearest[q], dot(vector, question.vector)
		if len(list) == depth && score <= list[depth-1].score {
			continue
		}
		at, _ := slices.BinarySearchFunc(list, score, func(other scored, score float64) int {
			return cmp.Compare(score, other.score)
		})
		list = slices.Insert(list, at, scored{id, score})
		b.nearest[q] = list[:min(depth, len(list))]
	}
}

func (b *best) ids(question int) (ids []string) {
	for _, one := range b.nearest[question] {
		ids = append(ids, one.id)
	}
	return ids
}

// dot is the cosine of two vectors of length 1.
func dot(a, b []float32) float64 {
	var sum float32
	for i := range a {
		sum += a[i] * b[i]
	}
	return float64(sum)
}
