package http

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/api"
)

// Routes in the order in which /docs shows them.
func (s *Server) routes() {
	s.knowledgeRoutes()
	s.feedbackRoutes()
	s.eraseRoutes()
	s.erasureRoutes()
	s.questionRoutes()
	s.contextRoutes()
	s.sessionRoutes()
	s.reportRoutes()
	s.proofRoutes()
	s.rebuildRoutes()
	s.keyRoutes()
	s.tenantRoutes()
	s.quarantineRoutes()
	s.scrubbingRoutes()
	s.redactionRoutes()
	s.operatorRoutes()
	s.mountRoutes()
}

const (
	one  = "/v1/knowledge/{id}"
	many = "/v1/knowledge"
)

func (s *Server) knowledgeRoutes() {
	const tag = "Knowledge"
	handle(s, huma.Operation{
		OperationID: "remember", Method: http.MethodPost, Path: many, Tags: []string{tag},
		Summary: "Remember one item, or many",
		Description: "An object is one item: 201. An array, or one object per line (" + linesType + "), is many: " +
			"they are taken 500 to a commit while they arrive, and answered with one line each, in order. " +
			"One bad record never spoils the others; the same content again is unchanged. " +
			"With If-Match, which is for one item, update=true revises only the revision that you read. " +
			"What several may say at once is remembered once by those who search for it with position, and then send unless_said_since.",
		RequestBody: orMany(bodies(s, true, map[string]any{jsonType: api.Knowledge{}, linesType: api.Knowledge{}})),
		Responses:   s.remembered(), Errors: append([]int{http.StatusPreconditionFailed}, writeErrors...),
	}, s.remember)
	handle(s, huma.Operation{
		OperationID: "list", Method: http.MethodGet, Path: many, Tags: []string{tag},
		Summary: "List items, newest first", Errors: []int{http.StatusBadRequest},
	}, s.list)
	handle(s, huma.Operation{
		OperationID: "find", Method: http.MethodGet, Path: one, Tags: []string{tag},
		Summary: "Read one item, with how it was found of use", Errors: readErrors,
	}, s.find)
	handle(s, huma.Operation{
		OperationID: "revise", Method: http.MethodPatch, Path: one, Tags: []string{tag},
		Summary: "Revise an item, share it, hand it over",
		Description: "A merge patch (RFC 7396): what is left out stays, null clears. " +
			"With If-Match it happens only to the revision that you read.",
		RequestBody: bodies(s, true, map[string]any{patchType: patch{}, jsonType: patch{}}),
		Errors:      changeErrors,
	}, s.revise)
	handle(s, huma.Operation{
		OperationID: "forget", Method: http.MethodDelete, Path: one, Tags: []string{tag},
		Summary: "Forget an item, or erase it",
		Description: "Forgotten, it leaves the answers and stays in the history; restore brings it back. With erase=true what people wrote about it is destroyed for good: " +
			"for the owner in person or an admin, and not while it is under legal hold. Erased again is unchanged.",
		RequestBody: bodies(s, false, map[string]any{jsonType: api.Reason{}}), Errors: changeErrors,
	}, s.forget)
	handle(s, huma.Operation{
		OperationID: "restore", Method: http.MethodPost, Path: one + "/restore", Tags: []string{tag},
		Summary:     "Bring a forgotten or superseded item back",
		Description: "It is what it was before: what was superseded, and then forgotten, is superseded again; restored once more, it holds again.",
		RequestBody: bodies(s, false, map[string]any{jsonType: api.Reason{}}), Errors: changeErrors,
	}, s.restore)
	handle(s, huma.Operation{
		OperationID: "supersede", Method: http.MethodPost, Path: one + "/supersede", Tags: []string{tag},
		Summary:     "Let another item take this one's place",
		RequestBody: bodies(s, true, map[string]any{jsonType: api.Supersession{}}), Errors: changeErrors,
	}, s.supersede)
	s.relationRoutes()
	handle(s, huma.Operation{
		OperationID: "history", Method: http.MethodGet, Path: one + "/history", Tags: []string{tag},
		Summary: "Read what happened to an item, oldest first",
		Errors:  []int{http.StatusBadRequest, http.StatusNotFound},
	}, s.history)
}

func (s *Server) feedbackRoutes() {
	const tag = "Learning from use"
	handle(s, huma.Operation{
		OperationID: "give-feedback", Method: http.MethodPost, Path: one + "/feedback", Tags: []string{tag},
		Summary:     "Say that an item was of use, or did harm",
		Description: "One voice counts per voter and trace; another on the same trace replaces the first.",
		RequestBody: bodies(s, true, map[string]any{jsonType: api.Vote{}}), Errors: changeErrors,
	}, s.giveFeedback)
	handle(s, huma.Operation{
		OperationID: "retract-feedback", Method: http.MethodDelete, Path: one + "/feedback", Tags: []string{tag},
		Summary: "Take a vote back", Errors: changeErrors,
	}, s.retractFeedback)
	handle(s, huma.Operation{
		OperationID: "report-stale", Method: http.MethodPost, Path: one + "/stale", Tags: []string{tag},
		Summary:     "Report that an item is out of date",
		RequestBody: bodies(s, false, map[string]any{jsonType: api.Reason{}}), Errors: changeErrors,
	}, s.reportStale)
	handle(s, huma.Operation{
		OperationID: "confirm", Method: http.MethodPost, Path: one + "/confirm", Tags: []string{tag},
		Summary:     "Confirm that an item still holds",
		RequestBody: bodies(s, false, map[string]any{jsonType: api.Confirmation{}}), Errors: changeErrors,
	}, s.confirm)
}

func (s *Server) questionRoutes() {
	handle(s, huma.Operation{
		OperationID: "search", Method: http.MethodPost, Path: "/v1/search", Tags: []string{"Questions"},
		Summary:     "Search by meaning and by words, nearest scope first",
		RequestBody: bodies(s, true, map[string]any{jsonType: api.Search{}}),
		Errors:      []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType},
	}, s.search)
	handle(s, huma.Operation{
		OperationID: "events", Method: http.MethodGet, Path: "/v1/events", Tags: []string{"Questions"},
		Summary: "Read the log, or follow it",
		Description: "A page of JSON, the whole list as " + linesType + " or " + csvType + ", or what is recorded from now on and for ever as " +
			streamType + ": Last-Event-ID resumes. Auditors and admins read everything; members read what happened to what they may see now.",
		Parameters: []*huma.Param{parameter("Last-Event-ID")},
		Responses:  listed[api.Event](s, streamType), Errors: []int{http.StatusBadRequest, http.StatusNotAcceptable},
	}, s.events)
	handle(s, huma.Operation{
		OperationID: "projections", Method: http.MethodGet, Path: "/v1/projections", Tags: []string{"Questions"},
		Summary: "See how the projections do",
	}, s.projections)
}
