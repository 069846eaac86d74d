package serve

import (
	"cmp"
	"context"
	"os"

	"github.com/annals-kb/annals/cmd/annals/terminal"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/operate"
	"github.com/annals-kb/annals/projections/embedding"
)

// Embedder are the settings of the model that turns text into vectors.
type Embedder struct {
	// Only the environment sets the keys: other users of the machine can see command lines.
	EmbeddingFile  string `group:"embedding" env:"ANNALS_EMBEDDING_FILE" placeholder:"FOLDER"`
	EmbeddingURL   string `group:"embedding" env:"ANNALS_EMBEDDING_URL" placeholder:"URL"`
	EmbeddingModel string `group:"embedding" env:"ANNALS_EMBEDDING_MODEL" placeholder:"NAME"`
	EmbeddingDims  string `group:"embedding" env:"ANNALS_EMBEDDING_DIMS" placeholder:"N"`
	EmbeddingRate  string `group:"embedding" env:"ANNALS_EMBEDDING_RATE" placeholder:"N"`

	EmbeddingPreviousFile  string `group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_FILE" placeholder:"FOLDER"`
	EmbeddingPreviousURL   string `group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_URL" placeholder:"URL"`
	EmbeddingPreviousModel string `group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_MODEL" placeholder:"NAME"`
	EmbeddingPreviousDims  string `group:"embedding" env:"ANNALS_EMBEDDING_PREVIOUS_DIMS" placeholder:"N"`
}

// environment looks up a variable of the process, which the flags override.
func (e Embedder) environment(name string) string {
	settings := map[string]string{
		"ANNALS_EMBEDDING_FILE": e.EmbeddingFile, "ANNALS_EMBEDDING_DIMS": e.EmbeddingDims,
		"ANNALS_EMBEDDING_URL": e.EmbeddingURL, "ANNALS_EMBEDDING_MODEL": e.EmbeddingModel,
		"ANNALS_EMBEDDING_RATE": e.EmbeddingRate, "ANNALS_EMBEDDING_PREVIOUS_DIMS": e.EmbeddingPreviousDims,
		"ANNALS_EMBEDDING_PREVIOUS_FILE": e.EmbeddingPreviousFile, "ANNALS_EMBEDDING_PREVIOUS_URL": e.EmbeddingPreviousURL,
		"ANNALS_EMBEDDING_PREVIOUS_MODEL": e.EmbeddingPreviousModel,
	}
	return cmp.Or(settings[name], os.Getenv(name))
}

// previous is the previous embedder, nil if none is named.
func (e Embedder) previous() (embedding.Embedder, error) {
	previous, err := embedding.PreviousFromEnvironment(e.environment)
	if err != nil {
		return nil, terminal.Wrong("annals serve --help lists the settings",
			"the model before (ANNALS_EMBEDDING_PREVIOUS_…): %s", err)
	}
	return previous, nil
}

// Choose returns the embedder of the settings, and explains why it was chosen and how to use another.
func (e Embedder) Choose() (chosen embedding.Embedder, why string, err error) {
	chosen, why, err = embedding.FromEnvironment(e.environment)
	if err != nil {
		return nil, "", terminal.Wrong("annals serve --help lists the settings", "%s", err)
	}
	return chosen, why, nil
}

// tried is the text with which models are tried.
const tried = "annals test"

// embedders are the models of the embeddings, with a way to try each.
func embedders(embedder, previous embedding.Embedder, why string) []operate.Model {
	trying := func(e embedding.Embedder) func(context.Context) (int, error) {
		return func(ctx context.Context) (int, error) {
			vectors, err := e.Embed(ctx, []string{tried}, embedding.Query)
			if err != nil {
				return 0, err
			}
			return len(vectors[0]), nil
		}
	}
	all := []operate.Model{{
		Model: api.Model{Name: "embedding", Model: embedder.Name(), Reason: why}, Try: trying(embedder),
	}}
	if previous != nil {
		all = append(all, operate.Model{
			Model: api.Model{Name: "embedding-previous", Model: previous.Name()}, Try: trying(previous),
		})
	}
	return all
}
