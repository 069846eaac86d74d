package api

import "time"

// Digest sums up what happened in a scope.
type Digest struct {
	Scope      string        `json:"scope" example:"team:pay"`
	Since      time.Time     `json:"since"`
	Until      time.Time     `json:"until"`
	Events     int           `json:"events" doc:"The events that were counted."`
	More       bool          `json:"more,omitempty" doc:"There are more events, which were not counted."`
	New        DigestSection `json:"new" doc:"Remembered."`
	Changed    DigestSection `json:"changed" doc:"Revised, moved, rescoped or transferred, and not new."`
	Contested  DigestSection `json:"contested" doc:"Found harmful or reported stale."`
	Superseded DigestSection `json:"superseded" doc:"Superseded or merged."`
	Deleted    DigestSection `json:"deleted"`
	Helpful    DigestSection `json:"helpful" doc:"Found helpful, the most often first."`
	Waiting    DigestSection `json:"waiting" doc:"Waiting for a review now."`
}

// DigestSection are items of a digest: those with the most events first, then those with the newest one.
type DigestSection struct {
	Total int          `json:"total"`
	Items []DigestItem `json:"items" nullable:"false" doc:"The first 20."`
}

// DigestItem is an item in a section of a digest.
type DigestItem struct {
	ID    string     `json:"id"`
	Title string     `json:"title,omitempty" doc:"The task, or the beginning of the content, as it is now; missing if you may not read it now."`
	Count int        `json:"count" doc:"The events that count for the section; of a waiting item: its reasons."`
	Last  *time.Time `json:"last,omitempty" doc:"The newest of them."`
	By    string     `json:"by,omitempty" doc:"The id of the item that superseded it."`
}
