package domain

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
)

// summaryOf is what the server itself has written last about an item, and that was not overwritten since; nil where
// there is none.
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

// withoutSummary takes back what the server wrote about a content that changes: it holds no more.
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

// keepingSummary leaves alone what the server wrote about a content that stays, unless the caller writes another: a
// caller that says the same again has no summary to take back.
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

// DirectoryTask is a directory in which something changed, so that what is said about it may hold no more.
type DirectoryTask struct {
	Tenant     string
	URI        URI
	Generation int64 // counts how often what was said about it had to go
	ChangedAt  int64 // microseconds since 1970
	Attempts   int
	MadeOf     string // what the present summary was made of
}

// DirectorySummary is what a model said of a directory, as those see it whom a scope is for.
type DirectorySummary struct {
	Summary

	Audience Scope
	MadeOf   string // a hash of what the model was shown, and of its name
}

// AudiencePrincipal is who belongs to an audience and to nothing else: what it may see, everybody in the audience may.
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

// WidestAudience is the scope that most of the items have: the public one, if any has it. Empty if there are none.
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

// directoryNamed is in the meta of a text that says nothing but the name that its directory had.
type directoryNamed struct {
	Name string `json:"directory_named"`
}

// SetDirectoryName fills in a text that says the name of its directory.
func (t *Text) SetDirectoryName(name string) {
	t.Content = name
	t.Meta, _ = json.Marshal(directoryNamed{name}) // a string can always be
}

// IsDirectoryNameOnly tells whether a text says no more than how its directory was called.
func (t Text) IsDirectoryNameOnly() bool {
	var n directoryNamed
	_ = json.Unmarshal(t.Meta, &n) // another's meta may be anything
	return n.Name != "" && n.Name == t.Content
}

// SummarizedDirectories are the directories that an item lies in and that a model may say something about: those that
// hold what belongs together. A session's archives are summarised when it is committed.
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
