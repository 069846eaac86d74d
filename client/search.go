package client

import (
	"context"
	"net/http"
)

// Audience is for whom something is searched, in ids without the word before the colon.
type Audience struct {
	UserID     string   `json:"user_id,omitempty"`
	AgentID    string   `json:"agent_id,omitempty"`
	ProjectIDs []string `json:"project_ids,omitempty"`
	TeamIDs    []string `json:"team_ids,omitempty"`
	OrgID      string   `json:"org_id,omitempty"`
}

// Search is a question. Only Query is required.
type Search struct {
	Query       string    `json:"query"`
	Context     *Audience `json:"context,omitempty"` // nil: everything that the caller belongs to
	Limit       int       `json:"limit,omitempty"`   // 0 for 10
	MinScore    *float64  `json:"min_score,omitempty"`
	Order       string    `json:"order,omitempty"` // priority, score
	Level       *int      `json:"level,omitempty"` // 0 abstract, 1 overview, 2 content
	Types       []string  `json:"types,omitempty"`
	ContextType []string  `json:"context_type,omitempty"`
	Category    []string  `json:"category,omitempty"`
	Tags        Tags      `json:"tags,omitempty"`
	Owner       string    `json:"owner,omitempty"`
	Scope       string    `json:"scope,omitempty"`
	URI         string    `json:"uri,omitempty"` // what the URI begins with
	Polarity    string    `json:"polarity,omitempty"`
	Stale       *bool     `json:"stale,omitempty"`
	AsOf        string    `json:"as_of,omitempty"`
	Position    bool      `json:"position,omitempty"` // tell [Found.Position]
}

// Found is what is known.
type Found struct {
	Items    []Hit   `json:"items"`
	Embedder string  `json:"embedder"`
	Degraded string  `json:"degraded,omitempty"` // why words stand alone
	MinScore float64 `json:"min_score"`
	Explain  *Looked `json:"explain,omitempty"` // where nothing was found
	Position int64   `json:"position"`          // up to which everything was looked at; for [Client.RememberUnlessSaid]
}

// Looked is where a search has looked.
type Looked struct {
	Visible   int64   `json:"visible"`    // items that whoever asks may see
	Passed    int64   `json:"passed"`     // of those, items that passed the filters
	BestBelow float64 `json:"best_below"` // the best score below MinScore
}

// Hit is an item in the answer.
type Hit struct {
	Knowledge Knowledge `json:"knowledge"`
	Score     float64   `json:"score"` // 0 to 1; 0.5 is "about this"
	Scope     string    `json:"scope"`
	Weight    float64   `json:"weight"`
	Reason    string    `json:"reason"`    // "nearer scope" if it stands before a hit of more weight
	Contested bool      `json:"contested"` // it was found harmful or stale, and has little confidence left
}

// Search finds what is known about something, nearest scope first.
func (c *Client) Search(ctx context.Context, s Search) (Found, error) {
	var found Found
	_, err := c.ask(ctx, request{method: http.MethodPost, path: []string{"v1", "search"}, body: s}, &found)
	return found, err
}
