package embedding_test //nolint:lll // tables of test data

import (
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/annals-kb/annals/projections/embedding"
)

func TestTheEnvironmentNamesTheEmbedder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		environment map[string]string
		embedder    string
		reason      string
	}{
		{"nothing", nil, "sentence-1", "ANNALS_EMBEDDING_URL"},
		{"a key of OpenAI's", map[string]string{"OPENAI_API_KEY": secret}, "openai:text-embedding-3-small:1536", "because OPENAI_API_KEY is set"},
		{"a key of Ark's", map[string]string{"ARK_API_KEY": secret}, "ark:doubao-embedding-large-text-250515:2048", "because ARK_API_KEY is set"},
		{"a key and another model", map[string]string{
			"OPENAI_API_KEY": secret, "ARK_API_KEY": secret, "ANNALS_EMBEDDING_MODEL": "text-embedding-3-large",
		}, "openai:text-embedding-3-large:3072", "OpenAI"},
		{"words alone", map[string]string{"OPENAI_API_KEY": secret, "ANNALS_EMBEDDING_MODEL": "words"}, "builtin-2", "no text leaves"},
		{"a key, but texts stay here", map[string]string{"OPENAI_API_KEY": secret, "ANNALS_EMBEDDING_MODEL": "builtin"}, "builtin-2", "no text leaves"},
		{"an endpoint", map[string]string{
			"ANNALS_EMBEDDING_URL": "http://127.0.0.1:11434/v1", "ANNALS_EMBEDDING_MODEL": "bge-m3", "OPENAI_API_KEY": secret,
		}, "openai:bge-m3:1024", "bge-m3 at http://127.0.0.1:11434/v1"},
		{"an endpoint and an unknown model", map[string]string{
			"ANNALS_EMBEDDING_URL": "http://127.0.0.1:11434/v1", "ANNALS_EMBEDDING_MODEL": "ours", "ANNALS_EMBEDDING_DIMS": "300",
		}, "openai:ours:300", "because ANNALS_EMBEDDING_URL"},
		{"fewer dimensions", map[string]string{"OPENAI_API_KEY": secret, "ANNALS_EMBEDDING_DIMS": "512"}, "openai:text-embedding-3-small:512", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			embedder, reason, err := embedding.FromEnvironment(func(name string) string { return test.environment[name] })
			if err != nil {
				t.Fatal(err)
			}
			if got := embedder.Name(); got != test.embedder {
				t.Errorf("got %s, want %s", got, test.embedder)
			}
			if !strings.Contains(reason, test.reason) || strings.Contains(reason, secret) {
				t.Errorf("reason %q, want %q and no secret", reason, test.reason)
			}
		})
	}
}

func TestEverySettingThatIsWrongIsNamed(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name        string
		environment map[string]string
		says        []string
	}{
		{"no model", map[string]string{"ANNALS_EMBEDDING_URL": "http://x/v1"}, []string{"model: missing"}},
		{"no URL", map[string]string{"ANNALS_EMBEDDING_MODEL": "bge-m3"}, []string{"URL: missing"}},
		{"a file and an endpoint", map[string]string{"ANNALS_EMBEDDING_FILE": "potion", "ANNALS_EMBEDDING_URL": "http://x"}, []string{"ANNALS_EMBEDDING_FILE and ANNALS_EMBEDDING_URL exclude each other"}},
		{"only a key", map[string]string{"ANNALS_EMBEDDING_KEY": secret}, []string{"URL: missing", "model: missing"}},
		{"an unknown model", map[string]string{"ANNALS_EMBEDDING_URL": "http://x", "ANNALS_EMBEDDING_MODEL": "ours"}, []string{"ANNALS_EMBEDDING_DIMS", `"ours"`}},
		{"no model that they are of", map[string]string{"ANNALS_EMBEDDING_DIMS": "many", "ANNALS_EMBEDDING_RATE": "fast"}, []string{"RATE: not a number", "DIMS: not a number"}},
		{"everything", map[string]string{
			"ANNALS_EMBEDDING_URL": "http://u:" + secret + "@x", "ANNALS_EMBEDDING_MODEL": "m", "ANNALS_EMBEDDING_KEY": secret + "\n",
			"ANNALS_EMBEDDING_DIMS": "many", "ANNALS_EMBEDDING_RATE": "fast",
		}, []string{"RATE: not a number", "DIMS: not a number", "no user", "key: has blanks"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			embedder, _, err := embedding.FromEnvironment(func(name string) string { return test.environment[name] })
			if err == nil {
				t.Fatalf("got %s", embedder.Name())
			}
			for _, want := range test.says {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("%q tells the secret", err)
			}
		})
	}
}

func TestTheModelBeforeIsReachedAsThePresentOneUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	const previous = "ANNALS_EMBEDDING_PREVIOUS_"
	for name, test := range map[string]struct {
		environment map[string]string
		former      string
	}{
		"none":          {map[string]string{"OPENAI_API_KEY": secret}, ""},
		"the same key":  {map[string]string{"OPENAI_API_KEY": secret, previous + "MODEL": "text-embedding-3-large"}, "openai:text-embedding-3-large:3072"},
		"the same URL":  {map[string]string{"ANNALS_EMBEDDING_URL": "http://x/v1", "ANNALS_EMBEDDING_MODEL": "bge-m3", previous + "MODEL": "ours", previous + "DIMS": "7"}, "openai:ours:7"},
		"another URL":   {map[string]string{"OPENAI_API_KEY": secret, previous + "URL": "http://x/v1", previous + "MODEL": "bge-m3"}, "openai:bge-m3:1024"},
		"the built-in":  {map[string]string{"OPENAI_API_KEY": secret, previous + "MODEL": "builtin"}, "builtin-2"},
		"other lengths": {map[string]string{"OPENAI_API_KEY": secret, "ANNALS_EMBEDDING_DIMS": "512", previous + "MODEL": "text-embedding-3-small"}, "openai:text-embedding-3-small:1536"},
	} {
		former, err := embedding.PreviousFromEnvironment(func(name string) string { return test.environment[name] })
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got := ""
		if former != nil {
			got = former.Name()
		}
		if got != test.former {
			t.Errorf("%s: got %q, want %q", name, got, test.former)
		}
	}
	if _, err := embedding.PreviousFromEnvironment(func(name string) string {
		return map[string]string{previous + "MODEL": "ours", previous + "URL": "http://x/v1"}[name]
	}); err == nil {
		t.Error("a model of unknown length is taken")
	}
}

// The key of one endpoint must not be sent to another.
func TestTheKeyOfThePresentModelGoesNowhereElse(t *testing.T) {
	t.Parallel()
	for _, elsewhere := range []bool{false, true} {
		e := &endpoint{}
		server := httptest.NewServer(e)
		defer server.Close()
		environment := map[string]string{
			"ANNALS_EMBEDDING_URL": server.URL, "ANNALS_EMBEDDING_MODEL": "ours", "ANNALS_EMBEDDING_DIMS": "4", "ANNALS_EMBEDDING_KEY": secret,
			"ANNALS_EMBEDDING_PREVIOUS_MODEL": "theirs", "ANNALS_EMBEDDING_PREVIOUS_DIMS": "4",
		}
		if elsewhere {
			environment["ANNALS_EMBEDDING_PREVIOUS_URL"] = server.URL
		}
		former, err := embedding.PreviousFromEnvironment(func(name string) string { return environment[name] })
		if err != nil {
			t.Fatal(err)
		}
		if _, err := former.Embed(t.Context(), []string{"x"}, embedding.Query); err != nil {
			t.Fatal(err)
		}
		sent := e.received()[0].Authorization
		if elsewhere == strings.Contains(sent, secret) {
			t.Errorf("at a URL of its own %v: sent %q", elsewhere, sent)
		}
	}
}
