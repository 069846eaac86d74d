package api

// ProblemType begins the type of every problem; its code follows.
const ProblemType = "urn:annals:problem:"

// Codes of problems.
const (
	CodeMalformed       = "malformed"
	CodeInvalid         = "invalid"
	CodeUnauthenticated = "unauthenticated"
	CodeForbidden       = "forbidden"
	CodeCrossOrigin     = "cross-origin"
	CodeNotFound        = "not-found"
	CodeNoRoute         = "no-route"
	CodeMethod          = "method"
	CodeNotAcceptable   = "not-acceptable"
	CodeSlow            = "slow"
	CodeTaken           = "taken"
	CodeSimilar         = "similar"
	CodeRedacted        = "redacted"
	CodeConflict        = "conflict"
	CodeDeleted         = "deleted"
	CodeErased          = "erased"
	CodePrecondition    = "precondition"
	CodeTooLarge        = "too-large"
	CodeMediaType       = "media-type"
	CodeKeyReused       = "key-reused"
	CodeRate            = "rate"
	CodeQuota           = "quota"
	CodeBusy            = "busy"
	CodeBehind          = "behind"
	CodeUnavailable     = "unavailable"
	CodeBroken          = "broken"
	CodeUnprivileged    = "unprivileged"
	CodeFull            = "full"
	CodeClosing         = "closing"
	CodeTimeout         = "timeout"
	CodeCanceled        = "canceled"
	CodeUnexpected      = "unexpected"
)

// Problem is an error of the API (RFC 9457). It never contains a value of the request, which may be a secret.
type Problem struct {
	Type     string     `json:"type" example:"urn:annals:problem:invalid"`
	Title    string     `json:"title"`
	Status   int        `json:"status"`
	Detail   string     `json:"detail,omitempty"`
	Instance string     `json:"instance,omitempty" doc:"urn:annals:request:ID, as in the server's log; of a record among many with #number."`
	Fix      string     `json:"fix,omitempty" doc:"What to do about it, where we know it."`
	Errors   []BadField `json:"errors,omitempty" doc:"Every bad field at once."`
	Similar  []Similar  `json:"similar,omitempty" doc:"Of a new item with on_similar=refuse: the items that say the same or contradict it."`

	Fields   []BadField     `json:"fields,omitempty" doc:"Which fields a refusal is about, such as scopes to which the caller may not publish."`
	Redacted map[string]int `json:"redacted,omitempty" doc:"With Annals-Redaction: refuse: what would be taken out of the texts, by class."`
}

// BadField is an invalid field and what is wrong with it.
type BadField struct {
	Field   string `json:"field" example:"scopes[1]"`
	Message string `json:"message"`
	Missing bool   `json:"missing,omitempty" doc:"It names an item that is not there for the caller."`
}
