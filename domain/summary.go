package domain

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// summaryOf is the item's current abstract and overview, each nil unless the server wrote it.
func summaryOf(dc DecisionContext, k *Knowledge) (abstract, overview *string) {
	summary, _ := dc.NewestFact(KnowledgeStream(k.ID), Revised{}.Name(), SystemPrincipal().Authentication).(Revised)
	if summary.Abstract != nil && *summary.Abstract == k.Text.Abstract && k.Text.Abstract != "" {
		abstract = summary.Abstract
	}
	if summary.Overview != nil && *summary.Overview == k.Text.Overview && k.Text.Overview != "" {
		overview = summary.Overview
	}
	return abstract, overview
}

// withoutSummary clears a summary of the server if the content changes, since the summary describes the old content.
func (r Revised) withoutSummary(dc DecisionContext, k *Knowledge) Revised {
	kept := r.Abstract == nil && k.Text.Abstract != "" || r.Overview == nil && k.Text.Overview != ""
	if r.Content == nil || *r.Content == k.Text.Content || !kept {
		return r
	}
	abstract, overview := summaryOf(dc, k)
	if r.Abstract == nil && abstract != nil {
		r.Abstract = new(string)
	}
	if r.Overview == nil && overview != nil {
		r.Overview = new(string)
	}
	return r
}

// keepingSummary keeps a summary of the server if the content stays and the caller would only clear it. A caller that
// repeats the content has no summary to send.
func (r Revised) keepingSummary(dc DecisionContext, k *Knowledge) Revised {
	cleared := func(field *string, current string) bool { return field != nil && *field == "" && current != "" }
	if r.Content == nil || *r.Content != k.Text.Content ||
		!cleared(r.Abstract, k.Text.Abstract) && !cleared(r.Overview, k.Text.Overview) {
		return r
	}
	abstract, overview := summaryOf(dc, k)
	if abstract != nil && r.Abstract != nil && *r.Abstract == "" {
		r.Abstract = nil
	}
	if overview != nil && r.Overview != nil && *r.Overview == "" {
		r.Overview = nil
	}
	return r
}

// DirectoryTask is a directory whose summary may be out of date.
type DirectoryTask struct {
	Tenant     string
	URI        URI
	Generation int64 // counts the invalidations of the summary
	ChangedAt  int64 // microseconds since 1970
	Attempts   int
	MadeOf     string // the hash of the present summary's input
}

// DirectorySummary is a model's summary of a directory, as the audience of one scope sees it.
type DirectorySummary struct {
	Summary

	Audience Scope
	MadeOf   string // a hash of the model's name and input
}

// AudiencePrincipal is a principal that belongs to nothing but an audience. It sees only what every member of the
// audience may see.
func AudiencePrincipal(tenant string, audience Scope) Principal {
	p := Principal{Tenant: tenant, Role: Member}
	if audience != Public {
		p.Subject = audience.Entity()
	}
	return p
}

// InAudience tells whether p belongs to an audience.
func (p Principal) InAudience(audience Scope) bool {
	return audience == Public || p.ActsFor(audience.Entity())
}

// WidestAudience is the public scope if an item has it, else the most frequent scope of the items. It is empty
// without items.
func WidestAudience(items []*Knowledge) Scope {
	count := map[Scope]int{}
	for _, k := range items {
		for _, scope := range k.Scopes {
			count[scope]++
		}
	}
	if count[Public] > 0 {
		return Public
	}
	scopes := slices.SortedFunc(maps.Keys(count), func(a, b Scope) int {
		return cmp.Or(count[b]-count[a], cmp.Compare(a, b))
	})
	if len(scopes) == 0 {
		return ""
	}
	return scopes[0]
}

// directoryNamed is the meta of a text that contains only the name of its directory.
type directoryNamed struct {
	Name string `json:"directory_named"`
}

// SetDirectoryName fills in a text that contains only the name of its directory.
func (t *Text) SetDirectoryName(name string) {
	t.Content = name
	t.Meta, _ = json.Marshal(directoryNamed{name}) // a string always marshals
}

// IsDirectoryNameOnly tells whether a text contains only the name of its directory.
func (t Text) IsDirectoryNameOnly() bool {
	var n directoryNamed
	_ = json.Unmarshal(t.Meta, &n) // other texts have meta of any form
	return n.Name != "" && n.Name == t.Content
}

// SummarizedDirectories are the directories of an item that a model may summarise, which hold related items. A
// session's archives are summarised when it is committed.
func (u URI) SummarizedDirectories() []URI {
	names := u.Names()
	if len(names) == 0 || names[0] == "session" || u.Space() != "" && slices.Index(u.below(), "sessions") == 0 {
		return nil
	}
	least := 2
	if names[0] == "resources" {
		least = 1
	}
	var above []URI
	for i := least; i < len(names); i++ {
		above = append(above, URIOfNames(names[:i]...))
	}
	return above
}
