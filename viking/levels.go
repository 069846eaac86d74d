package viking

import (
	"cmp"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// abstractOf is an item's L0: what its author gave, else what it says first.
func abstractOf(k *domain.Knowledge) string {
	return cmp.Or(k.Text.Abstract, text.Abstract(k.Text.Content, text.AbstractTokens))
}

// overviewOf is an item's L1.
func overviewOf(k *domain.Knowledge) string {
	return cmp.Or(k.Text.Overview, text.Overview(k.Text.Content, text.OverviewTokens))
}

// head is the beginning of s, in whole characters.
func head(s string, bytes int) string {
	if len(s) <= bytes {
		return s
	}
	for bytes > 0 && !utf8.RuneStart(s[bytes]) {
		bytes--
	}
	return s[:bytes]
}

// described is what meta says of a skill's name and description.
type described struct {
	Name         string   `json:"name,omitempty"`
	Description  string   `json:"description,omitempty"`
	AllowedTools []string `json:"allowed_tools,omitempty"`
	Tags         []string `json:"tags,omitempty"`
}

// describedBy is an item's; its directory's name and its abstract, if meta says nothing.
func describedBy(k *domain.Knowledge) described {
	var d described
	_ = json.Unmarshal(k.Text.Meta, &d) // another's meta may be anything
	d.Name = cmp.Or(d.Name, strings.TrimSuffix(placeOf(k).Name(), ".md"))
	d.Description = cmp.Or(d.Description, abstractOf(k))
	return d
}

// placeOf is where clients know an item: a skill by its directory.
func placeOf(k *domain.Knowledge) domain.URI {
	uri := domain.URI(k.Text.URI)
	if k.ContextType == domain.Skill && uri.Name() == domain.SkillName {
		return uri.Parent()
	}
	return uri
}
