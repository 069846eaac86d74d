package text

// Tokenizer cuts what is known and what is asked into the same terms, by the rules of one version.
type Tokenizer struct {
	Version string
	Cut     func(s string) (terms []string, words int)
	Query   func(s string) []QueryTerm
}

// Tokenizers are those that indexes of words can be built with, today's first. Behind it stay those that
// an index of the release before may have been built with: it is searched and written by its own rules
// until it is retired.
func Tokenizers() []Tokenizer {
	return []Tokenizer{{Version: TokenizerVersion, Cut: Cut, Query: Query}}
}
