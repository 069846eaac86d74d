package serve

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/body"
)

func relationsOf(all []domain.Relation) []api.Related {
	return Map(all, func(r domain.Relation) api.Related { return api.Related{To: r.To, Reason: r.Reason, At: Time(r.At)} })
}

// KnowledgeOf is an item as the API shows it.
func KnowledgeOf(k *domain.Knowledge) *api.Knowledge {
	return &api.Knowledge{
		ID: k.ID, Type: string(k.Type), Task: k.Text.Task, Content: k.Text.Content,
		Abstract: k.Text.Abstract, Overview: k.Text.Overview, Tags: api.Tags(k.Text.Tags),
		Scopes: Strings(k.Scopes), Owner: string(k.Owner), Visibility: string(k.Visibility()),
		ContextType: string(k.ContextType), Category: string(k.Category),
		Polarity: string(k.Polarity), Media: string(k.Media), Meta: k.Text.Meta,
		URI: k.Text.URI, Source: sourceOf(k.Source),
		Eval: &api.Eval{
			Helpful: &k.Helpful, Harmful: &k.Harmful, Votes: k.Voices.Votes, Voters: k.Voices.Voters,
			Confidence: &k.Confidence,
		},
		OccurredAt: Time(k.OccurredAt),
		Stale:      &api.Stale{Reporters: k.Stale.Reporters, Since: Time(k.Stale.Since), Reason: k.Stale.Reason},

		ConfirmedAt: Time(k.ConfirmedAt), ConfirmUntil: Time(k.ConfirmUntil), ConfirmationExpired: k.Expired,
		Verified: verifiedOf(k.Verified), DisputedBy: k.DisputedBy, Status: string(k.Status), Trust: string(k.Trust()),
		SupersededBy: k.SupersededBy, Held: k.Held,
		Relations: relationsOf(k.Relations), DerivedFrom: k.DerivedFrom, Revision: k.Revision, Version: k.Version,
		Position: k.Position, CreatedAt: Time(k.CreatedAt), UpdatedAt: Time(k.UpdatedAt),
	}
}

func sourceOf(s domain.Source) *api.Source {
	if s.Name+s.Category+s.AgentID+s.SubmittedBy+s.Timestamp+s.TraceID == "" && len(s.URLs) == 0 {
		return nil
	}
	return &api.Source{
		Name: s.Name, Category: s.Category, URLs: s.URLs, AgentID: s.AgentID, SubmittedBy: s.SubmittedBy,
		Timestamp: s.Timestamp, TraceID: s.TraceID,
	}
}

func UsesOf(all []domain.Use) []api.VoteRecord {
	return Map(all, func(u domain.Use) api.VoteRecord {
		return api.VoteRecord{Query: u.Query, TraceID: u.TraceID, Outcome: u.Outcome, By: string(u.By), At: Time(u.At)}
	})
}

func verifiedOf(v *domain.Verified) *api.Verified {
	if v == nil {
		return nil
	}
	return &api.Verified{
		By: string(v.By), At: Time(v.At), Until: Time(v.Until), Overdue: v.Overdue, Counts: v.Counts,
	}
}

// RememberOf is the command that remembers what a request says.
func RememberOf(in api.Knowledge, by domain.Principal) domain.Remember {
	id := cmp.Or(in.ID, NewID())
	source := sourceIn(in.Source)
	if source.Trust = domain.Trust(in.Trust); strings.HasPrefix(in.CausationID, "file:") { // as annals import says
		source.Trust = domain.LeastTrusted(source.Trust, domain.FromImport)
	}
	return domain.Remember{
		By: by, ID: id, Fresh: in.ID == "", Reason: in.Reason, Confirm: in.Confirm,
		Visibility: domain.Visibility(in.Visibility),
		Knowledge: domain.Remembered{
			Class: domain.Class{
				Type: domain.Type(in.Type), ContextType: domain.ContextType(in.ContextType),
				Category: domain.Category(in.Category), Polarity: domain.Polarity(in.Polarity), Media: domain.Media(in.Media),
			},
			Scopes: FromStrings[domain.Scope](in.Scopes),
			Owner:  domain.Entity(in.Owner), Source: source, Baseline: baselineIn(in.Eval),
			Text: domain.Text{
				Task: in.Task, Content: in.Content, Abstract: in.Abstract, Overview: in.Overview,
				Tags: domain.Tags(in.Tags), Meta: in.Meta, URI: in.URI,
			},
		},
	}
}

func sourceIn(s *api.Source) domain.Source {
	if s == nil {
		return domain.Source{}
	}
	return domain.Source{
		Name: s.Name, Category: s.Category, URLs: s.URLs, AgentID: s.AgentID, SubmittedBy: s.SubmittedBy,
		Timestamp: s.Timestamp, TraceID: s.TraceID,
	}
}

// baselineIn is the baseline; omitted fields have their default.
func baselineIn(e *api.Eval) *domain.Eval {
	if e == nil {
		return nil
	}
	baseline := domain.DefaultBaseline()
	override(&baseline.Helpful, e.Helpful)
	override(&baseline.Harmful, e.Harmful)
	override(&baseline.Confidence, e.Confidence)
	baseline.HelpfulHistory = usesIn(e.HelpfulHistory)
	baseline.HarmfulHistory = usesIn(e.HarmfulHistory)
	return &baseline
}

func override[T any](value *T, replacement *T) {
	if replacement != nil {
		*value = *replacement
	}
}

func usesIn(all []api.VoteRecord) []domain.Use {
	var uses []domain.Use
	for _, u := range all {
		uses = append(uses, domain.Use{
			Query: u.Query, TraceID: u.TraceID, Outcome: u.Outcome, By: domain.Entity(u.By), At: Value(u.At),
		})
	}
	return uses
}

// Patch is a merge patch (RFC 7396) of what may change about an item.
type Patch struct {
	Type       body.Optional[string]        `json:"type,omitzero" nullable:"false" enum:"user_profile,strategy,tool,usecase,definition,plan"`
	Task       body.Optional[string]        `json:"task,omitzero" maxLength:"2000"`
	Content    body.Optional[string]        `json:"content,omitzero" nullable:"false" minLength:"1"`
	Abstract   body.Optional[string]        `json:"abstract,omitzero" maxLength:"4000" doc:"null to derive it from the content again."`
	Overview   body.Optional[string]        `json:"overview,omitzero" maxLength:"16000" doc:"null to derive it from the content again."`
	Tags       body.Optional[body.TagPatch] `json:"tags,omitzero" doc:"An object is merged, key by key; null takes a key away. An object of values, as in {\"labels\": {\"new\": true, \"old\": null}}, adds and takes away those, and leaves the others. An array replaces all tags with labels."`
	Scopes     body.Optional[[]string]      `json:"scopes,omitzero" nullable:"false" doc:"The whole new set."`
	Owner      body.Optional[string]        `json:"owner,omitzero" nullable:"false" doc:"Who is to own it from now on."`
	Visibility body.Optional[string]        `json:"visibility,omitzero" nullable:"false" enum:"private,shared,org,public" doc:"Refused if it contradicts the scopes."`
	Category   body.Optional[string]        `json:"category,omitzero" enum:"profile,preferences,entities,events,cases,patterns,tools,skills,antipatterns"`
	Polarity   body.Optional[string]        `json:"polarity,omitzero" enum:"positive,negative"`
	Meta       body.Optional[body.Object]   `json:"meta,omitzero" doc:"Merged, key by key; null takes a key away."`
	URI        body.Optional[string]        `json:"uri,omitzero" nullable:"false" pattern:"^viking://"`
	Reason     body.Optional[string]        `json:"reason,omitzero" nullable:"false" maxLength:"2000" doc:"Why, for the history: nothing of the item."`

	Confirm      body.Optional[bool]      `json:"confirm,omitzero" nullable:"false" doc:"true: also confirm the item in the same act, as confirm does. Reports of staleness end."`
	ConfirmUntil body.Optional[time.Time] `json:"confirm_until,omitzero" nullable:"false" doc:"With confirm: when it should be looked at again; for good if left out."`
}

// Command is the change of the fields that do not depend on the item: see [Patch.Merge].
func (p Patch) Command(target domain.Target, found *domain.Problems) domain.Revise {
	command := domain.Revise{Target: target, Changes: domain.Revised{
		Reclassed: domain.Reclassed{
			Type: changed[domain.Type](p.Type), Category: changed[domain.Category](p.Category),
			Polarity: changed[domain.Polarity](p.Polarity),
		},
		Task:    changed[string](p.Task),
		Content: changed[string](p.Content), Abstract: changed[string](p.Abstract),
		Overview: changed[string](p.Overview),
	}}
	if p.Polarity.Null {
		*command.Changes.Polarity = domain.Positive
	}
	command.Reason, command.Confirm, command.Until = p.Reason.Value, p.Confirm.Value, p.ConfirmUntil.Value
	if p.ConfirmUntil.Given && !p.Confirm.Value {
		found.Add("confirm_until", "belongs to confirm")
	}
	command.Visibility = domain.Visibility(p.Visibility.Value)
	command.Owner = domain.Entity(required(p.Owner, "owner", found))
	command.URI = required(p.URI, "uri", found)
	if p.Scopes.Null {
		found.Add("scopes", "cannot be taken away")
	}
	if p.Scopes.Given && !p.Scopes.Null {
		command.Scopes = FromStrings[domain.Scope](p.Scopes.Value)
	}
	return command
}

// changed is the new value; null clears.
func changed[T ~string](o body.Optional[string]) *T {
	if !o.Given {
		return nil
	}
	value := T(o.Value)
	return &value
}

// required is the new value of a field that must not be empty.
func required(o body.Optional[string], field string, found *domain.Problems) string {
	if o.Given && o.Value == "" {
		found.Add(field, "cannot be taken away")
	}
	return o.Value
}

// Merges tells whether the result depends on the present item.
func (p Patch) Merges() bool { return p.Tags.Given || p.Meta.Given }

// Merge adds the change of the tags and of meta.
func (p Patch) Merge(command *domain.Revise, k *domain.Knowledge, found *domain.Problems) {
	if p.Tags.Given {
		merged := domain.Tags{}
		if !p.Tags.Null {
			merged = p.Tags.Value.Apply(k.Text.Tags)
		}
		command.Changes.Tags = &merged
	}
	if p.Meta.Given {
		var merged json.RawMessage
		if !p.Meta.Null {
			var err error
			if merged, err = body.MergePatch(k.Text.Meta, json.RawMessage(p.Meta.Value)); err != nil {
				found.Add("meta", "cannot be merged with what is there")
			}
		}
		command.Changes.Meta = &merged
	}
}

// Filtering are the parameters that choose items.
type Filtering struct {
	Type        []string `query:"type,explode" enum:"user_profile,strategy,tool,usecase,definition,plan" doc:"Several are alternatives, as with all of these."`
	ContextType []string `query:"context_type,explode" enum:"memory,skill,resource"`
	Category    []string `query:"category,explode" enum:"profile,preferences,entities,events,cases,patterns,tools,skills,antipatterns"`
	Tag         []string `query:"tag,explode" doc:"key:value; without a colon it is a label. Different keys must all match, by any of their values."`
	Owner       string   `query:"owner" doc:"An entity such as user:123."`
	Scope       string   `query:"scope" doc:"A scope such as project:456 or public."`
	Visibility  string   `query:"visibility" enum:"private,shared,org,public"`
	Polarity    string   `query:"polarity" enum:"positive,negative"`
	URI         string   `query:"uri" doc:"What the URI begins with."`
	ID          []string `query:"id,explode" doc:"At most 500."`
	IDPrefix    string   `query:"id_prefix" doc:"What the id begins with."`
	Stale       Boolean  `query:"stale" doc:"true: reported stale since it was last confirmed, or that confirmation has expired; false: neither."`
	TraceID     string   `query:"trace_id" doc:"Of the item's source."`
	Status      []string `query:"status,explode" enum:"active,superseded,deleted,erased,quarantined,proposed" doc:"active if left out."`
	CreatedFrom Moment   `query:"created_from" doc:"A time or a date, as with all of these; at or after it."`
	CreatedTo   Moment   `query:"created_to" doc:"Before it."`
	UpdatedFrom Moment   `query:"updated_from"`
	UpdatedTo   Moment   `query:"updated_to"`

	MinConfidence Number  `query:"min_confidence" doc:"0 to 1, of the confidence as it is now. This and the following are for the present."`
	MaxConfidence Number  `query:"max_confidence"`
	Contested     Boolean `query:"contested" doc:"true: found harmful or reported stale, with a confidence below 0.2 now, or disputed by items that you may see."`
	Expired       Boolean `query:"expired" doc:"true: it was confirmed until a time that has passed."`
}

// Filter reads the parameters, and notes every bad one.
func (in *Filtering) Filter(found *domain.Problems) domain.Filter {
	return domain.Filter{
		Types:        FromStrings[domain.Type](SplitCommas(in.Type)),
		ContextTypes: FromStrings[domain.ContextType](SplitCommas(in.ContextType)),
		Categories:   FromStrings[domain.Category](SplitCommas(in.Category)), Tags: domain.TagsOf(in.Tag, ":"),
		Owner: domain.Entity(in.Owner), Scope: domain.Scope(in.Scope),
		Visibility: domain.Visibility(in.Visibility), Polarity: domain.Polarity(in.Polarity),
		URIPrefix: in.URI, IDs: in.ID, IDPrefix: in.IDPrefix, Stale: in.Stale.Read(found, "stale"), TraceID: in.TraceID,
		Statuses:    FromStrings[domain.Status](SplitCommas(in.Status)),
		CreatedFrom: in.CreatedFrom.Read(found, "created_from"), CreatedTo: in.CreatedTo.Read(found, "created_to"),
		UpdatedFrom: in.UpdatedFrom.Read(found, "updated_from"), UpdatedTo: in.UpdatedTo.Read(found, "updated_to"),
		MinConfidence: in.MinConfidence.Read(found, "min_confidence"), Expired: in.Expired.Read(found, "expired"),
		MaxConfidence: in.MaxConfidence.Read(found, "max_confidence"), Contested: in.Contested.Read(found, "contested"),
	}
}

// FilterOf is the filter of a search.
func FilterOf(in api.Filter) domain.Filter {
	return domain.Filter{
		Types: FromStrings[domain.Type](in.Types), ContextTypes: FromStrings[domain.ContextType](in.ContextType),
		Categories: FromStrings[domain.Category](in.Category), Tags: domain.Tags(in.Tags),
		Owner: domain.Entity(in.Owner), Scope: domain.Scope(in.Scope),
		Visibility: domain.Visibility(in.Visibility), URIPrefix: in.URI,
		Polarity: domain.Polarity(in.Polarity), Stale: in.Stale, TraceID: in.TraceID,
		Statuses:    FromStrings[domain.Status](in.Status),
		CreatedFrom: Value(in.CreatedFrom), CreatedTo: Value(in.CreatedTo),
		UpdatedFrom: Value(in.UpdatedFrom), UpdatedTo: Value(in.UpdatedTo),
	}
}
