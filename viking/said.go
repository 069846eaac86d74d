package viking

import (
	"context"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// Directories knows what a model said of directories.
type Directories interface {
	// Said is what was said of these directories of a tenant, of those of which something was. Who may hear it is
	// for the caller to decide.
	Said(ctx context.Context, tenant string, uris []domain.URI) (map[domain.URI]domain.DirectorySummary, error)
}

// sayings are what a model said of directories, as far as the caller is among those for whom it was made.
type sayings map[domain.URI]saying

type saying struct{ domain.DirectorySummary }

// said is what a model said of the directories among these: one question, however many there are.
func (s *Server) said(ctx context.Context, c caller, nodes []node) (sayings, error) {
	heard := sayings{}
	if s.cfg.Directories == nil {
		return heard, nil
	}
	var uris []domain.URI
	for _, n := range nodes {
		if n.isDir {
			uris = append(uris, n.uri)
		}
	}
	all, err := s.cfg.Directories.Said(ctx, c.Tenant, uris)
	if err != nil {
		return nil, err
	}
	for uri, said := range all {
		if c.Hears(said.Audience) {
			heard[uri] = saying{said}
		}
	}
	return heard, nil
}

// tells whether it is about all that the caller sees in the directory: what others do not see it says nothing of.
func (s saying) tells(c caller, children []node) bool {
	listener := domain.Listener(c.Tenant, s.Audience)
	return s.Abstract != "" && !slices.ContainsFunc(children, func(n node) bool { return n.item != nil && !listener.MaySee(n.item) })
}

// tell lets the directories among these nodes be about what was said of them.
func (s sayings) tell(nodes []node) {
	for i := range nodes {
		if nodes[i].isDir {
			nodes[i].about = s[nodes[i].uri].Abstract
		}
	}
}
