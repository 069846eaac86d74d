package serve

import (
	"cmp"
	"os"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/embedding"
)

// Embedder says what turns text into vectors.
type Embedder struct {
	// The keys come from the environment alone: other users of the machine can see command lines.
	EmbeddingURL   string `group:"embedding" env:"ANNALS_EMBEDDING_URL" placeholder:"URL"`
	EmbeddingModel string `group:"embedding" env:"ANNALS_EMBEDDING_MODEL" placeholder:"NAME"`
	EmbeddingDims  string `group:"embedding" env:"ANNALS_EMBEDDING_DIMS" placeholder:"N"`
	EmbeddingRate  string `group:"embedding" env:"ANNALS_EMBEDDING_RATE" placeholder:"N"`

	// The previous model answers questions until the vectors of the new one are complete.
	EmbeddingPreviousURL   string `group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_URL" placeholder:"URL"`
	EmbeddingPreviousModel string `group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_MODEL" placeholder:"NAME"`
	EmbeddingPreviousDims  string `group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_DIMS" placeholder:"N"`
}

// environment is the process's, under what the flags say.
func (e Embedder) environment(name string) string {
	given := map[string]string{
		"ANNALS_EMBEDDING_URL": e.EmbeddingURL, "ANNALS_EMBEDDING_MODEL": e.EmbeddingModel,
		"ANNALS_EMBEDDING_DIMS": e.EmbeddingDims,
		"ANNALS_EMBEDDING_RATE": e.EmbeddingRate, "ANNALS_EMBEDDING_PREVIOUS_URL": e.EmbeddingPreviousURL,
		"ANNALS_EMBEDDING_PREVIOUS_MODEL": e.EmbeddingPreviousModel,
		"ANNALS_EMBEDDING_PREVIOUS_DIMS":  e.EmbeddingPreviousDims,
	}
	return cmp.Or(given[name], os.Getenv(name))
}

// previous is the embedder that was configured before, nil if none is named.
func (e Embedder) previous() (embedding.Embedder, error) {
	previous, err := embedding.PreviousFromEnvironment(e.environment)
	if err != nil {
		return nil, terminal.Wrong("annals serve --help lists the settings",
			"the model before (ANNALS_EMBEDDING_PREVIOUS_…): %s", err)
	}
	return previous, nil
}

// Choose finds the embedder that the settings come to, and says why it is this one and how to
// have another.
func (e Embedder) Choose() (chosen embedding.Embedder, why string, err error) {
	chosen, why, err = embedding.FromEnvironment(e.environment)
	if err != nil {
		return nil, "", terminal.Wrong("annals serve --help lists the settings", "%s", err)
	}
	return chosen, why, nil
}
