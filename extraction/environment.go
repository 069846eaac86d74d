package extraction

import (
	"errors"
	"fmt"
	"strconv"
)

// FromEnvironment chooses the extractor that the environment names, and says in a sentence which and why: a
// model, if ANNALS_LLM_URL and ANNALS_LLM_MODEL name one (with ANNALS_LLM_KEY, if it needs one, and at most
// ANNALS_LLM_RATE requests a second), else the built-in rules.
func FromEnvironment(getenv func(string) string) (Extractor, string, error) {
	config := ModelConfig{URL: getenv("ANNALS_LLM_URL"), Model: getenv("ANNALS_LLM_MODEL"), Key: getenv("ANNALS_LLM_KEY")}
	if rate := getenv("ANNALS_LLM_RATE"); rate != "" {
		var err error
		if config.RequestsPerSecond, err = strconv.ParseFloat(rate, 64); err != nil || !(config.RequestsPerSecond >= 0) {
			return nil, "", errors.New("ANNALS_LLM_RATE: not a number of requests a second")
		}
	}
	if config.URL == "" && config.Model == "" && config.Key == "" {
		return BuiltIn{}, "rules, built in: no model, no network. For one that reads between the lines set ANNALS_LLM_URL and ANNALS_LLM_MODEL", nil
	}
	model, err := NewModel(config)
	if err != nil {
		return nil, "", fmt.Errorf("ANNALS_LLM_URL, _MODEL, _KEY: %w", err)
	}
	return model, fmt.Sprintf("%s at %s, because ANNALS_LLM_URL says so", config.Model, config.URL), nil
}
