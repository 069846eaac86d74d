package serve

import (
	"cmp"
	"os"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/embedding"
)

// Embedder says what turns text into vectors.
type Embedder struct {
	// URL is the base of an OpenAI-compatible endpoint.
	URL string `name:"embedding-url" group:"embedding" env:"ANNALS_EMBEDDING_URL" placeholder:"URL"`

	// Model is the name that the endpoint knows the model by.
	Model string `name:"embedding-model" group:"embedding" env:"ANNALS_EMBEDDING_MODEL" placeholder:"NAME"`

	// Dims is the length of the model's vectors. The key comes from the environment alone: other
	// users of the machine can read command lines.
	Dims string `name:"embedding-dims" group:"embedding" env:"ANNALS_EMBEDDING_DIMS" placeholder:"N"`

	// Rate keeps the background, which may have everything to embed, from using up what the endpoint allows.
	Rate string `name:"embedding-rate" group:"embedding" env:"ANNALS_EMBEDDING_RATE" placeholder:"N"`

	// The model before answers questions until the vectors of the new one are complete.
	PreviousURL   string `name:"embedding-previous-url" group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_URL" placeholder:"URL"`
	PreviousModel string `name:"embedding-previous-model" group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_MODEL" placeholder:"NAME"`
	PreviousDims  string `name:"embedding-previous-dims" group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_DIMS" placeholder:"N"`
}

// environment is the process's, under what the flags say.
func (e Embedder) environment(name string) string {
	given := map[string]string{
		"ANNALS_EMBEDDING_URL": e.URL, "ANNALS_EMBEDDING_MODEL": e.Model, "ANNALS_EMBEDDING_DIMS": e.Dims,
		"ANNALS_EMBEDDING_RATE": e.Rate, "ANNALS_EMBEDDING_PREVIOUS_URL": e.PreviousURL,
		"ANNALS_EMBEDDING_PREVIOUS_MODEL": e.PreviousModel, "ANNALS_EMBEDDING_PREVIOUS_DIMS": e.PreviousDims,
	}
	return cmp.Or(given[name], os.Getenv(name))
}

// former is the embedder that was configured before, nil if none is named.
func (e Embedder) former() (embedding.Embedder, error) {
	former, err := embedding.PreviousFromEnvironment(e.environment)
	if err != nil {
		return nil, terminal.Wrong("annals serve --help lists the settings", "the model before (ANNALS_EMBEDDING_PREVIOUS_…): %s", err)
	}
	return former, nil
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
