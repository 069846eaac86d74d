package domain

// Answer is what a search found.
type Answer struct {
	Hits     []Found
	Embedder string // the configured embedding model, or the built-in one
	Degraded string // why the model took no part, for all items or some; empty if it did
	Warning  string // how the question was shortened and read, where that may surprise
	MinScore float64
	Explain  *Explanation // when asked for, or when there are no hits
}

// Weak tells that the answer has hits, but none that is surely about the question.
func (a Answer) Weak() bool { return len(a.Hits) > 0 && a.Hits[0].Band == Perhaps }

// Found is a hit with its item.
type Found struct {
	Hit
	Knowledge *Knowledge
	Terms     []string // which of the query's terms it contains; with Explain
}

// mostOfPart is how many sure hits of a part of a question are added to those of the whole.
const mostOfPart = 3

// AddParts adds to the hits of a question the sure hits of its parts, in turn, and keeps at most limit. What only the
// nearest items are for the whole question comes last.
func AddParts(whole []Found, parts [][]Found, limit int) []Found {
	seen := map[string]bool{}
	var hits, perhaps []Found
	add := func(list []Found, i int) {
		if i >= len(list) || seen[list[i].ID] {
			return
		}
		seen[list[i].ID] = true
		hits = append(hits, list[i])
	}
	for _, f := range whole {
		if f.Band == Perhaps {
			perhaps = append(perhaps, f)
		}
	}
	whole = whole[:len(whole)-len(perhaps)]
	for i := range max(len(whole), mostOfPart) {
		add(whole, i)
		for _, part := range parts {
			if i < mostOfPart && i < len(part) && part[i].Band == Sure {
				add(part, i)
			}
		}
	}
	for i := range perhaps {
		add(perhaps, i)
	}
	return hits[:min(limit, len(hits))]
}
