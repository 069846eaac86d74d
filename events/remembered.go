package events

import (
	"encoding/json"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

type rememberedData struct {
	Type        domain.Type        `json:"type"`
	ContextType domain.ContextType `json:"context_type"`
	Category    domain.Category    `json:"category,omitempty"`
	Polarity    domain.Polarity    `json:"polarity"`
	Media       domain.Media       `json:"media"`
	Scopes      []domain.Scope     `json:"scopes"`
	Owner       domain.Entity      `json:"owner"`
	Source      sourceData         `json:"source,omitzero"`
	Baseline    *evalData          `json:"baseline,omitempty"`
	DerivedFrom []string           `json:"derived_from,omitempty"`
}

type rememberedText struct {
	Task     string          `json:"task,omitempty"`
	Content  string          `json:"content,omitempty"`
	Abstract string          `json:"abstract,omitempty"`
	Overview string          `json:"overview,omitempty"`
	Tags     domain.Tags     `json:"tags,omitempty"`
	Meta     json.RawMessage `json:"meta,omitempty"`
	URI      string          `json:"uri,omitempty"`
	Source   sourceText      `json:"source,omitzero"`
	Baseline evalText        `json:"baseline,omitzero"`
}

type sourceData struct {
	Category    string `json:"category,omitempty"`
	AgentID     string `json:"agent_id,omitempty"`
	SubmittedBy string `json:"submitted_by,omitempty"`
	Timestamp   string `json:"timestamp,omitempty"`
	TraceID     string `json:"trace_id,omitempty"`
}

type sourceText struct {
	Name string   `json:"name,omitempty"`
	URLs []string `json:"urls,omitempty"`
}

func splitRemembered(f domain.Remembered) (rememberedData, rememberedText) {
	baseline, histories := splitEval(f.Baseline)
	data := rememberedData{
		Type: f.Type, ContextType: f.ContextType, Category: f.Category,
		Polarity: f.Polarity, Media: f.Media, Scopes: f.Scopes, Owner: f.Owner,
		Source: sourceData{
			Category: f.Source.Category, AgentID: f.Source.AgentID,
			SubmittedBy: f.Source.SubmittedBy, Timestamp: f.Source.Timestamp,
			TraceID: f.Source.TraceID,
		},
		Baseline: baseline, DerivedFrom: f.DerivedFrom,
	}
	text := rememberedText{
		Task: f.Text.Task, Content: f.Text.Content,
		Abstract: f.Text.Abstract, Overview: f.Text.Overview,
		Tags: f.Text.Tags, Meta: f.Text.Meta, URI: f.Text.URI,
		Source:   sourceText{Name: f.Source.Name, URLs: f.Source.URLs},
		Baseline: histories,
	}
	return data, text
}

func joinRemembered(d rememberedData, t rememberedText) domain.Remembered {
	return domain.Remembered{
		Type: d.Type, ContextType: d.ContextType, Category: d.Category,
		Polarity: d.Polarity, Media: d.Media, Scopes: d.Scopes, Owner: d.Owner,
		Source: domain.Source{
			Name: t.Source.Name, Category: d.Source.Category, URLs: t.Source.URLs,
			AgentID: d.Source.AgentID, SubmittedBy: d.Source.SubmittedBy,
			Timestamp: d.Source.Timestamp, TraceID: d.Source.TraceID,
		},
		Baseline: joinEval(d.Baseline, t.Baseline), DerivedFrom: d.DerivedFrom,
		Text: domain.Text{
			Task: t.Task, Content: t.Content, Abstract: t.Abstract, Overview: t.Overview,
			Tags: t.Tags, Meta: t.Meta, URI: t.URI,
		},
	}
}

type evalData struct {
	Helpful        int       `json:"helpful"`
	Harmful        int       `json:"harmful"`
	Confidence     float64   `json:"confidence"`
	HelpfulHistory []useData `json:"helpful_history,omitempty"`
	HarmfulHistory []useData `json:"harmful_history,omitempty"`
}

// evalText has the texts of the histories at the same places as evalData has the rest.
type evalText struct {
	HelpfulHistory []useText `json:"helpful_history,omitempty"`
	HarmfulHistory []useText `json:"harmful_history,omitempty"`
}

type useData struct {
	TraceID string        `json:"trace_id,omitempty"`
	By      domain.Entity `json:"by,omitempty"`
	At      database.Time `json:"at,omitzero"`
}

type useText struct {
	Query   string `json:"query,omitempty"`
	Outcome string `json:"outcome,omitempty"`
}

func splitEval(e *domain.Eval) (*evalData, evalText) {
	if e == nil {
		return nil, evalText{}
	}
	data := evalData{Helpful: e.Helpful, Harmful: e.Harmful, Confidence: e.Confidence}
	var text evalText
	data.HelpfulHistory, text.HelpfulHistory = splitUses(e.HelpfulHistory)
	data.HarmfulHistory, text.HarmfulHistory = splitUses(e.HarmfulHistory)
	return &data, text
}

func joinEval(d *evalData, t evalText) *domain.Eval {
	if d == nil {
		return nil
	}
	return &domain.Eval{
		Helpful: d.Helpful, Harmful: d.Harmful, Confidence: d.Confidence,
		HelpfulHistory: joinUses(d.HelpfulHistory, t.HelpfulHistory),
		HarmfulHistory: joinUses(d.HarmfulHistory, t.HarmfulHistory),
	}
}

// splitUses returns no texts if nobody wrote any.
func splitUses(uses []domain.Use) (data []useData, texts []useText) {
	written := false
	for _, use := range uses {
		data = append(data, useData{TraceID: use.TraceID, By: use.By, At: database.At(use.At)})
		text := useText{Query: use.Query, Outcome: use.Outcome}
		texts = append(texts, text)
		written = written || text != useText{}
	}
	if !written {
		texts = nil
	}
	return data, texts
}

func joinUses(data []useData, texts []useText) []domain.Use {
	var uses []domain.Use
	for i, d := range data {
		use := domain.Use{TraceID: d.TraceID, By: d.By, At: d.At.Time}
		if i < len(texts) {
			use.Query, use.Outcome = texts[i].Query, texts[i].Outcome
		}
		uses = append(uses, use)
	}
	return uses
}
