package main

import (
	"encoding/json"
	"time"
)

// knowledge is what the commands show of a piece of knowledge; --json prints all of it.
type knowledge struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	ContextType  string          `json:"context_type"`
	Category     string          `json:"category"`
	Polarity     string          `json:"polarity"`
	Task         string          `json:"task"`
	Content      string          `json:"content"`
	Abstract     string          `json:"abstract"`
	Tags         json.RawMessage `json:"tags"`
	Scopes       []string        `json:"scopes"`
	Owner        string          `json:"owner"`
	Visibility   string          `json:"visibility"`
	URI          string          `json:"uri"`
	Source       json.RawMessage `json:"source"`
	Meta         json.RawMessage `json:"meta"`
	Eval         eval            `json:"eval"`
	Stale        *staleness      `json:"stale"`
	ConfirmedAt  *time.Time      `json:"confirmed_at"`
	ConfirmUntil *time.Time      `json:"confirm_until"`
	Status       string          `json:"status"`
	SupersededBy string          `json:"superseded_by"`
	Revision     int64           `json:"revision"`
	CreatedAt    time.Time       `json:"created_at"`
	UpdatedAt    time.Time       `json:"updated_at"`
}

type eval struct {
	Helpful    int     `json:"helpful"`
	Harmful    int     `json:"harmful"`
	Confidence float64 `json:"confidence"`
}

type staleness struct {
	Reporters int       `json:"reporters"`
	Since     time.Time `json:"since"`
	Reason    string    `json:"reason"`
}
