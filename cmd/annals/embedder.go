package main

import (
	"cmp"
	"os"

	"github.com/annals-kb/annals/embedding"
)

// embedder says what turns text into vectors.
type embedder struct {
	// URL is the base of an OpenAI-compatible endpoint.
	URL string `name:"embedding-url" group:"embedding" env:"ANNALS_EMBEDDING_URL" placeholder:"URL" help:"An OpenAI-compatible endpoint, such as https://api.openai.com/v1 or http://127.0.0.1:11434/v1."`

	// Model is the name that the endpoint knows the model by.
	Model string `name:"embedding-model" group:"embedding" env:"ANNALS_EMBEDDING_MODEL" placeholder:"NAME" help:"The model there."`

	// Dims is the length of the model's vectors. The key comes from the environment alone: other
	// users of the machine can read command lines.
	Dims string `name:"embedding-dims" group:"embedding" env:"ANNALS_EMBEDDING_DIMS" placeholder:"N" help:"How long its vectors are, if the model can do several."`
}

// environment is the process's, under what the flags say.
func (e embedder) environment(name string) string {
	given := map[string]string{
		"ANNALS_EMBEDDING_URL": e.URL, "ANNALS_EMBEDDING_MODEL": e.Model, "ANNALS_EMBEDDING_DIMS": e.Dims,
	}
	return cmp.Or(given[name], os.Getenv(name))
}

// choose finds the embedder that the settings come to, and says why it is this one and how to
// have another.
func (e embedder) choose() (chosen embedding.Embedder, why string, err error) {
	chosen, why, err = embedding.FromEnvironment(e.environment)
	if err != nil {
		return nil, "", wrong("annals serve --help lists the settings", "%s", err)
	}
	return chosen, why, nil
}
