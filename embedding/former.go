package embedding

// FormerFromEnvironment chooses the embedder that was configured before, nil if none is named:
// ANNALS_EMBEDDING_PREVIOUS_MODEL, and ANNALS_EMBEDDING_PREVIOUS_URL, _KEY and _DIMS. Without a URL of its own it
// is reached as the present one is; the present key goes nowhere else.
func FormerFromEnvironment(getenv func(string) string) (Embedder, error) {
	const previous = "ANNALS_EMBEDDING_PREVIOUS_"
	model, url := getenv(previous+"MODEL"), getenv(previous+"URL")
	if model == "" && url == "" {
		return nil, nil
	}
	former, _, err := FromEnvironment(func(name string) string {
		switch name {
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
