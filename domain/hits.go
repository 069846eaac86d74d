package domain

// Answer is what a search found.
type Answer struct {
	Hits     []Found
	Embedder string // the embedding model whose vectors were compared
	Degraded string // why only words were searched, for all items or some; empty if vectors were searched, too
	Warning  string // how the question was shortened and read, where that may surprise
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
