package embedding

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/annals-kb/annals/projections/endpoint"
)

const (
	arkURL      = "https://ark.cn-beijing.volces.com/api/v3"
	arkModel    = "doubao-embedding-large-text-250515"
	openAIURL   = "https://api.openai.com/v1"
	openAIModel = "text-embedding-3-small"
)

// FromEnvironment selects the embedder that the environment names. reason says in a sentence which and why, and how
// to select another:
//
//   - ANNALS_EMBEDDING_FILE alone: the static model in that folder;
//   - ANNALS_EMBEDDING_URL and ANNALS_EMBEDDING_MODEL, with ANNALS_EMBEDDING_KEY if it needs one, and
//     ANNALS_EMBEDDING_DIMS unless the model is known;
//   - ARK_API_KEY alone, or OPENAI_API_KEY alone: that provider, with its usual text model or ANNALS_EMBEDDING_MODEL;
//   - ANNALS_EMBEDDING_MODEL=words or builtin: the built-in one alone;
//   - nothing: the encoder of sentences that is in the program.
//
// ANNALS_EMBEDDING_RATE limits the requests per second.
//
// The error names every setting that is missing or wrong, never a value that may be a secret.
func FromEnvironment(getenv func(string) string) (embedder Embedder, reason string, err error) {
	if path := getenv("ANNALS_EMBEDDING_FILE"); path != "" {
		return fromFile(getenv, path)
	}
	config, reason := choose(getenv)
	isBuiltIn := config == nil
	config = cmp.Or(config, &Config{})
	var problems []error
	if rate := getenv("ANNALS_EMBEDDING_RATE"); rate != "" {
		if config.RequestsPerSecond, err = strconv.ParseFloat(rate, 64); err != nil || !(config.RequestsPerSecond >= 0) {
			problems = append(problems, errors.New("ANNALS_EMBEDDING_RATE: not a number of requests a second"))
			config.RequestsPerSecond = 0
		}
	}
	if dims := getenv("ANNALS_EMBEDDING_DIMS"); dims != "" {
		if config.Dims, err = strconv.Atoi(dims); err != nil {
			problems = append(problems, errors.New("ANNALS_EMBEDDING_DIMS: not a number"))
		}
	}
	switch {
	case !isBuiltIn || len(problems) > 0:
	case isOfWords(getenv):
		return Builtin{}, reason, nil
	default:
		return Sentence{}, reason, nil
	}
	if modelNamed(config.Model).dims == 0 && config.Dims == 0 && config.Model != "" && len(problems) == 0 {
		problems = append(problems,
			fmt.Errorf("ANNALS_EMBEDDING_DIMS: set it to the length of the vectors of %q", config.Model))
		config.Dims = 1
	}
	if err := config.Validate(); err != nil && !isBuiltIn {
		problems = append(problems, fmt.Errorf("ANNALS_EMBEDDING_URL, _MODEL, _KEY, _DIMS: %w", err))
	}
	if len(problems) > 0 {
		return nil, "", errors.Join(problems...)
	}
	openAI, err := NewOpenAI(*config)
	if err != nil {
		return nil, "", err
	}
	return openAI, reason, nil
}

func fromFile(getenv func(string) string, path string) (embedder Embedder, reason string, err error) {
	for _, other := range []string{"URL", "MODEL", "KEY", "DIMS", "RATE"} {
		if name := "ANNALS_EMBEDDING_" + other; getenv(name) != "" {
			return nil, "", fmt.Errorf("ANNALS_EMBEDDING_FILE and %s exclude each other: set one of them", name)
		}
	}
	file, err := OpenFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("ANNALS_EMBEDDING_FILE: %w", err)
	}
	return file, file.Name() + ", because ANNALS_EMBEDDING_FILE says so: no text leaves this machine", nil
}

// isOfWords tells whether the built-in embedder alone is asked for.
func isOfWords(getenv func(string) string) bool {
	model := getenv("ANNALS_EMBEDDING_MODEL")
	return strings.EqualFold(model, "words") || strings.EqualFold(model, "builtin")
}

// choose selects where to send texts, nil for an embedder in the program, and says why.
func choose(getenv func(string) string) (config *Config, reason string) {
	url, model, key := getenv("ANNALS_EMBEDDING_URL"), getenv("ANNALS_EMBEDDING_MODEL"), getenv("ANNALS_EMBEDDING_KEY")
	ark, openAI := getenv("ARK_API_KEY"), getenv("OPENAI_API_KEY")
	const back = "ANNALS_EMBEDDING_MODEL=words keeps texts here"
	switch {
	case isOfWords(getenv):
		return nil, "words alone, because ANNALS_EMBEDDING_MODEL says so: no text leaves this machine"
	case url != "" || key != "":
		return &Config{Provider: providerOf(url), Config: endpoint.Config{URL: url, Model: model, Key: key}},
			fmt.Sprintf("%s at %s, because ANNALS_EMBEDDING_URL says so; %s", model, url, back)
	case ark != "" && !(openAI != "" && strings.HasPrefix(model, "text-embedding-")):
		model = cmp.Or(model, arkModel)
		return &Config{Provider: "ark", Config: endpoint.Config{URL: arkURL, Model: model, Key: ark}},
			fmt.Sprintf("%s at Volcengine Ark, because ARK_API_KEY is set and ANNALS_EMBEDDING_URL is not; %s", model, back)
	case openAI != "":
		model = cmp.Or(model, openAIModel)
		return &Config{Provider: "openai", Config: endpoint.Config{URL: openAIURL, Model: model, Key: openAI}},
			fmt.Sprintf("%s at OpenAI, because OPENAI_API_KEY is set and ANNALS_EMBEDDING_URL is not; %s", model, back)
	case model != "":
		return &Config{Config: endpoint.Config{Model: model}}, "" // Validate refuses it, since the URL is missing
	default:
		return nil, "words and English sentences, in the program: no text leaves this machine. For another model set " +
			"ANNALS_EMBEDDING_FILE, ANNALS_EMBEDDING_URL, OPENAI_API_KEY or ARK_API_KEY"
	}
}

// providerOf names the provider of a URL in the vector space's name.
func providerOf(url string) string {
	if strings.Contains(url, ".volces.com") {
		return "ark"
	}
	return "openai"
}

// PreviousFromEnvironment returns the previously configured embedder, nil if none is named. It reads
// ANNALS_EMBEDDING_PREVIOUS_FILE, or ANNALS_EMBEDDING_PREVIOUS_MODEL, _URL, _KEY and _DIMS. Without a URL of its own,
// it uses the present endpoint and key. The present key is sent to no other endpoint.
func PreviousFromEnvironment(getenv func(string) string) (Embedder, error) {
	const previous = "ANNALS_EMBEDDING_PREVIOUS_"
	model, url := getenv(previous+"MODEL"), getenv(previous+"URL")
	if path := getenv(previous + "FILE"); path != "" {
		return OpenFile(path)
	}
	if model == "" && url == "" {
		return nil, nil
	}
	former, _, err := FromEnvironment(func(name string) string {
		switch name {
		case "ANNALS_EMBEDDING_FILE":
			return ""
		case "ANNALS_EMBEDDING_MODEL":
			return model
		case "ANNALS_EMBEDDING_DIMS":
			return getenv(previous + "DIMS")
		case "ANNALS_EMBEDDING_URL":
			if url != "" {
				return url
			}
		case "ANNALS_EMBEDDING_KEY":
			if key := getenv(previous + "KEY"); key != "" || url != "" {
				return key
			}
		}
		return getenv(name)
	})
	return former, err
}
