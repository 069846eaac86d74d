package serve

import (
	"path/filepath"
)

// resources say where the server reads what callers name, besides what they send.
type resources struct {
	// FetchPrivate lets callers make the server ask for what only it can reach.
	FetchPrivate bool `group:"limits" env:"ANNALS_FETCH_PRIVATE" help:"Fetch resources from private networks and from this machine, too, where callers name a URL."`

	// HostPaths lets callers read what lies there.
	HostPaths []string `group:"limits" env:"ANNALS_HOST_PATHS" sep:":" placeholder:"DIR" complete:"file" help:"Directories of this machine whose files callers may name as resources; several with a colon between them. None unless told."`
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
