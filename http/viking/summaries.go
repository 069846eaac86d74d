package viking

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/domain/text"
)

// visibleSummaries are a model's summaries of directories whose audience includes the caller.
type visibleSummaries map[domain.URI]domain.DirectorySummary

// summariesOf reads the summaries of the directories among the nodes in one query.
func (s tree) summariesOf(ctx context.Context, c caller, nodes []node) (visibleSummaries, error) {
	visible := visibleSummaries{}
	if s.directories == nil {
		return visible, nil
	}
	var uris []domain.URI
	for _, n := range nodes {
		if n.isDir {
			uris = append(uris, n.uri)
		}
	}
	all, err := s.directories.Summaries(ctx, c.Tenant, uris)
	if err != nil {
		return nil, err
	}
	for uri, summary := range all {
		if c.InAudience(summary.Audience) {
			visible[uri] = summary
		}
	}
	return visible, nil
}

// coversAll tells whether a summary covers everything that the caller sees in the directory. A summary omits what its
// audience may not see.
func coversAll(c caller, s domain.DirectorySummary, children []node) bool {
	listener := domain.AudiencePrincipal(c.Tenant, s.Audience)
	isHidden := func(n node) bool { return n.item != nil && !listener.MaySee(n.item) }
	return s.Abstract != "" && !slices.ContainsFunc(children, isHidden)
}

// describe sets the summaries of the directories among the nodes.
func (s visibleSummaries) describe(nodes []node) {
	for i := range nodes {
		if nodes[i].isDir {
			nodes[i].about = s[nodes[i].uri].Abstract
		}
	}
}

// abstractOf is an item's L0: the author's abstract or the beginning of the content.
func abstractOf(k *domain.Knowledge) string {
	return cmp.Or(k.Text.Abstract, text.Abstract(k.Text.Content, text.AbstractTokens))
}

// overviewOf is an item's L1.
func overviewOf(k *domain.Knowledge) string {
	return cmp.Or(k.Text.Overview, text.Overview(k.Text.Content, text.OverviewTokens))
}

// described is a skill's name and description in meta.
type described struct {
	Name         string   `json:"name,omitempty"`
	Description  string   `json:"description,omitempty"`
	AllowedTools []string `json:"allowed_tools,omitempty"`
	Tags         []string `json:"tags,omitempty"`
	Metadata     any      `json:"metadata,omitempty"` // as in the front matter of a skill
}

// describedBy is an item's name and description. Without them in meta it is the name of its directory and its
// abstract.
func describedBy(k *domain.Knowledge) described {
	var d described
	_ = json.Unmarshal(k.Text.Meta, &d) // the meta of other writers may be anything
	d.Name = cmp.Or(d.Name, strings.TrimSuffix(placeOf(k).Name(), ".md"))
	d.Description = cmp.Or(d.Description, abstractOf(k))
	return d
}

// placeOf is the URI of an item for clients: of a skill, its directory.
func placeOf(k *domain.Knowledge) domain.URI {
	uri := domain.URI(k.Text.URI)
	if k.ContextType == domain.Skill && uri.Name() == domain.SkillName {
		return uri.Parent()
	}
	return uri
}
