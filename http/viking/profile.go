package viking

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// isProfile tells whether a URI is that of a user's profile. The facts that sessions found about the user lie beside
// it, one item each. A read of the profile includes them.
func isProfile(uri domain.URI) bool {
	names := uri.Names()
	return len(names) == 4 && names[0] == domain.User && names[2] == "memories" && names[3] == "profile.md"
}

// profileFacts are the active facts of the profile at an address; none for other addresses.
func (s tree) profileFacts(ctx context.Context, c caller, a address) ([]*domain.Knowledge, error) {
	const most = 500
	if !isProfile(a.uri) || a.beyond {
		return nil, nil
	}
	directory := domain.URI(strings.TrimSuffix(string(a.uri), ".md"))
	facts, err := s.reader.Below(ctx, domain.Walk{By: c.Principal, Below: directory, Limit: most})
	return slices.DeleteFunc(facts, func(k *domain.Knowledge) bool {
		return k.Status != domain.Active ||
			k.Media != domain.MediaText
	}), err
}

// findWithFacts is findReadable, but adds the facts to a profile.
func (s tree) findWithFacts(ctx context.Context, c caller, a address) (node, error) {
	n, err := s.findReadable(ctx, c, a)
	if err != nil && !errors.Is(err, domain.ErrNotFound) {
		return n, err
	}
	facts, failed := s.profileFacts(ctx, c, a)
	if failed != nil || len(facts) == 0 || n.isDir {
		return n, errors.Join(err, failed)
	}
	k, parts := *facts[0], facts
	if n.item != nil {
		k, parts = *n.item, append(facts, n.item)
	} else {
		k.ID, k.Text.URI, k.Text.Content = "", string(a.uri), ""
	}
	k.Text.Content, k.Text.Abstract, k.Text.Overview = withFacts(k.Text.Content, facts), "", ""
	return node{uri: a.uri, item: &k, parts: parts}, nil
}

// withFacts is the content of a profile followed by the facts that it does not contain.
func withFacts(content string, facts []*domain.Knowledge) string {
	for _, fact := range facts {
		if text := strings.TrimSpace(fact.Text.Content); !strings.Contains(content, text) {
			if content != "" && !strings.HasSuffix(content, "\n") {
				content += "\n"
			}
			content += text + "\n"
		}
	}
	return content
}

// withProfiles adds the profile to a list that has the directory of its facts.
func (s tree) withProfiles(ctx context.Context, c caller, nodes []node) ([]node, error) {
	for i := 0; i < len(nodes); i++ {
		at := address{uri: nodes[i].uri}
		if nodes[i].isDir {
			at.uri += ".md"
		}
		if !isProfile(at.uri) {
			continue
		}
		n, err := s.findWithFacts(ctx, c, at)
		switch known := func(other node) bool { return other.uri == at.uri }; {
		case errors.Is(err, domain.ErrNotFound):
		case err != nil:
			return nil, err
		case !nodes[i].isDir:
			nodes[i] = n
		case !slices.ContainsFunc(nodes, known):
			nodes = slices.Insert(nodes, i, n)
			i++
		}
	}
	return nodes, nil
}
