package serve

import (
	"path/filepath"
)

// resources say where the server reads what callers name, besides what they send.
type resources struct {
	// FetchPrivate lets callers make the server ask for what only it can reach.
	FetchPrivate bool `group:"limits" env:"ANNALS_FETCH_PRIVATE"`

	// HostPaths lets callers read what lies there.
	HostPaths []string `group:"limits" env:"ANNALS_HOST_PATHS" sep:":" placeholder:"DIR" complete:"file"`
}

// hostPaths are the directories by their whole names, which callers use.
func (r resources) hostPaths() []string {
	var all []string
	for _, path := range r.HostPaths {
		if whole, err := filepath.Abs(path); err == nil && path != "" {
			all = append(all, whole)
		}
	}
	return all
}
