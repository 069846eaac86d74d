package domain

// Answer is what a search found.
type Answer struct {
	Hits     []Found
	Embedder string // the configured embedding model, or the built-in one
	Degraded string // why the model took no part, for all items or some; empty if it did
	Warning  string // how the question was shortened; empty if it was not
	MinScore float64
	Weak     bool         // its hits may not be about the question
	Explain  *Explanation // when asked for, or when there are no hits
}

// Found is a hit with its item.
type Found struct {
	Hit
	Knowledge *Knowledge
	Terms     []string // which of the query's terms it contains; with Explain
}
