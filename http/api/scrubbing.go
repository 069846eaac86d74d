package api

// Finding is a secret that the current rules would have redacted, without the secret itself.
type Finding struct {
	ID       string `json:"id,omitempty" doc:"Of the item."`
	Stream   string `json:"stream"`
	Position int64  `json:"position"`
	EventID  string `json:"event_id"`
	Name     string `json:"name" doc:"Of the event."`
	Field    string `json:"field" doc:"Of its text."`
	Class    string `json:"class"`
	Count    int    `json:"count"`
	InName   bool   `json:"in_name,omitempty" doc:"It is in a URI or the key of something and cannot be redacted: erase the item."`
	Held     bool   `json:"held,omitempty" doc:"The item is under legal hold: to redact it is refused."`
}

// Redaction is the result of redacting the recorded texts of a stream.
type Redaction struct {
	ID       string         `json:"id,omitempty" doc:"Of the item."`
	Stream   string         `json:"stream"`
	Events   []string       `json:"events" nullable:"false" doc:"Ids of the events that say what was redacted: one for each text."`
	Redacted map[string]int `json:"redacted" nullable:"false" doc:"By class."`
	Refused  string         `json:"refused,omitempty" doc:"Why nothing, or no more, was."`
}

// LogSpan is the range of positions of a page. It is exported because huma documents no other embedded types.
type LogSpan struct {
	From       int64  `json:"from"`
	Through    int64  `json:"through" doc:"The position up to which this page looked."`
	To         int64  `json:"to"`
	NextCursor string `json:"next_cursor,omitempty" doc:"Empty at the end."`
}

// Findings are one page of findings.
type Findings struct {
	Items []Finding `json:"items" nullable:"false"`
	LogSpan
}

// Redactions are one page of redactions.
type Redactions struct {
	Items []Redaction `json:"items" nullable:"false"`
	LogSpan
}

// Scrubbing are the scrubbing rules of a tenant.
type Scrubbing struct {
	Off      []string       `json:"off,omitempty" doc:"Classes that are left as they are: api_key, jwt, private_key, email, phone, cc."`
	Patterns []ScrubPattern `json:"patterns,omitempty" maxItems:"32" doc:"What is redacted besides."`
	Allow    []string       `json:"allow,omitempty" example:"org:acme=phone" doc:"As SCOPE=CLASS: the class is left as it is in items whose scopes all allow it."`
	Active   bool           `json:"active,omitempty" readOnly:"true" doc:"Whether this server scrubs at all: ANNALS_SCRUB."`
}

type ScrubPattern struct {
	Class      string `json:"class" example:"employee" doc:"Becomes [REDACTED_EMPLOYEE]: 1 to 32 of a-z 0-9 _, or one of the classes there are."`
	Expression string `json:"expression" example:"\\bEMP-\\d{5}\\b" doc:"A regular expression (RE2) of at most 256 bytes. It is recorded for ever: name no secret in it."`
}
