package text

import "slices"

// Nearest is the known name that differs least from an unknown one; empty if none is near.
func Nearest(name string, known []string) string {
	nearest, least := "", 1+len(name)/4
	for _, candidate := range slices.Sorted(slices.Values(known)) {
		if d := distance(name, candidate); d <= least {
			nearest, least = candidate, d-1
		}
	}
	return nearest
}

// distance counts the letters to insert, delete, replace or exchange with their neighbour (Damerau, 1964).
func distance(a, b string) int {
	var before []int
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			row[j+1] = min(row[j], last[j+1]) + 1
			if a[i] == b[j] {
				row[j+1] = min(row[j+1], last[j])
			} else {
				row[j+1] = min(row[j+1], last[j]+1)
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}
