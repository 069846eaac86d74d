package record

import (
	"encoding/json"
	"testing"

	"github.com/annals-kb/annals/http/servertest"
)

func TestAPlaceFollowsFromOwnerAndType(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		`{"type":"user_profile","owner":"user:123","tags":{"category":"preference"}}`:  "users/123/preferences.json",
		`{"type":"user_profile","owner":"user:123","tags":{"category":["x","habit"]}}`: "users/123/habits.json",
		`{"type":"user_profile","owner":"user:123","category":"preferences"}`:          "users/123/preferences.json",
		`{"type":"user_profile","owner":"user:123","tags":{"category":"constraint"}}`:  "users/123/constraints.json",
		`{"type":"user_profile","owner":"user:123","tags":{"category":7}}`:             "users/123/profile.json",
		`{"type":"user_profile","owner":"team:pay","scopes":["team:pay","user:9"]}`:    "users/9/profile.json",
		`{"type":"user_profile","owner":"team:pay","scopes":["public"]}`:               "global/profiles.json",
		`{"type":"tool","owner":"user:123","scopes":["user:9","org:acme"]}`:            "global/tools.json",
		`{"type":"user_profile","owner":"user:123","scopes":["public"]}`:               "users/123/profile.json",
		`{"type":"tool","owner":"team:pay"}`:                                           "global/tools.json",
		`{"type":"definition","owner":"org:acme"}`:                                     "global/definitions.json",
		`{"type":"plan","owner":"project:456"}`:                                        "global/plans.json",
		`{"type":"strategy","owner":"agent:crawler_ops"}`:                              "agents/crawler_ops/strategies.json",
		`{"type":"usecase","owner":"user:123"}`:                                        "users/123/usecases.json",
	} {
		var k placement
		if err := json.Unmarshal([]byte(raw), &k); err != nil {
			t.Fatal(err)
		}
		servertest.Same(t, k.File(), want, raw)
	}
}

// Files that another system laid out say by their place what their records do not.
func TestAPlaceSaysWhatARecordDoesNot(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"users/123/habits.json":        `{"content":"x","owner":"user:123","tags":{"category":"habit"},"type":"user_profile"}`,
		"users/123/profile.json":       `{"type":"user_profile","owner":"user:123","content":"x"}`,
		"agents/crawler/tools.json":    `{"type":"tool","owner":"agent:crawler","content":"x"}`,
		"global/definitions.json":      `{"type":"definition","content":"x"}`,
		"elsewhere/of/no/meaning.json": `{"content":"x"}`,
		"users/../agents/x/other.json": `{"owner":"agent:x","content":"x"}`,
	} {
		servertest.Same(t, string(withPlacement([]byte(`{"content":"x"}`), file)), want, file)
	}
	for _, said := range []string{`{"owner":"team:t","type":"plan"}`, `[1]`, `null`, `{`} {
		servertest.Same(t, string(withPlacement([]byte(said), "users/123/habits.json")), said)
	}
}
