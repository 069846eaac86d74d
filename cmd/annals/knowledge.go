package main

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/annals-kb/annals/domain"
)

// knowledge is what the commands show of a piece of knowledge; --json prints all of it.
type knowledge struct {
	ID                  string          `json:"id"`
	Type                string          `json:"type"`
	ContextType         string          `json:"context_type"`
	Category            string          `json:"category"`
	Polarity            string          `json:"polarity"`
	Task                string          `json:"task"`
	Content             string          `json:"content"`
	Abstract            string          `json:"abstract"`
	Tags                json.RawMessage `json:"tags"`
	Scopes              []string        `json:"scopes"`
	Owner               string          `json:"owner"`
	Visibility          string          `json:"visibility"`
	URI                 string          `json:"uri"`
	Source              json.RawMessage `json:"source"`
	Meta                json.RawMessage `json:"meta"`
	Eval                eval            `json:"eval"`
	Stale               *staleness      `json:"stale"`
	ConfirmedAt         *time.Time      `json:"confirmed_at"`
	ConfirmUntil        *time.Time      `json:"confirm_until"`
	ConfirmationExpired bool            `json:"confirmation_expired"`
	Status              string          `json:"status"`
	SupersededBy        string          `json:"superseded_by"`
	Revision            int64           `json:"revision"`
	CreatedAt           time.Time       `json:"created_at"`
	UpdatedAt           time.Time       `json:"updated_at"`
}

type eval struct {
	Helpful    int     `json:"helpful"`
	Harmful    int     `json:"harmful"`
	Confidence float64 `json:"confidence"`
}

// votes are those of others than the author, whose own an item begins with.
func (e eval) votes() string {
	return fmt.Sprintf("%d helpful, %d harmful", domain.Rating{Helpful: e.Helpful}.Others(), e.Harmful)
}

// short is the same for a table.
func (e eval) short() string {
	return fmt.Sprintf("+%d -%d", domain.Rating{Helpful: e.Helpful}.Others(), e.Harmful)
}

func (k knowledge) rating() domain.Rating {
	s := domain.Rating{Harmful: k.Eval.Harmful, Confidence: k.Eval.Confidence}
	if k.Stale != nil {
		s.Reporters = k.Stale.Reporters
	}
	return s
}

type staleness struct {
	Reporters int       `json:"reporters"`
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason"`
}
