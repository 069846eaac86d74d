package main

import "slices"

// depth is how many hits count.
const depth = 10

// quality is how well questions found their evidence.
type quality struct {
	Questions int     `json:"questions"`
	Recall    float64 `json:"recall_at_10"` // mean share of a question's evidence among the first ten
	MRR       float64 `json:"mrr"`          // mean of one over the rank of the first evidence, 0 beyond the tenth
}

// judge compares what each question found with its evidence, for those that are wanted.
func judge(queries []query, found [][]string, wanted func(query) bool) quality {
	var sum quality
	for i, q := range queries {
		if !wanted(q) {
			continue
		}
		sum.Questions++
		hits, first := 0, 0
		for rank, id := range found[i][:min(depth, len(found[i]))] {
			if slices.Contains(q.Evidence, id) {
				hits++
				if first == 0 {
					first = rank + 1
				}
			}
		}
		sum.Recall += float64(hits) / float64(len(q.Evidence))
		if first > 0 {
			sum.MRR += 1 / float64(first)
		}
	}
	if sum.Questions > 0 {
		sum.Recall /= float64(sum.Questions)
		sum.MRR /= float64(sum.Questions)
	}
	return sum
}
