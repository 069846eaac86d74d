package mcp

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/client"
)

// argumentError is an invalid argument.
type argumentError struct{ message string }

func (w argumentError) Error() string { return w.message }

// errorWithFix is a refusal with advice for the model that depends on the tool.
type errorWithFix struct {
	error
	fix string
}

func (a errorWithFix) Unwrap() error { return a.error }

// renameFields replaces the names of fields in a refusal by those of the arguments.
func renameFields(err error, arguments map[string]string) error {
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		return err
	}
	renamed := *refused
	renamed.Errors = slices.Clone(refused.Errors)
	for i, f := range renamed.Errors {
		renamed.Errors[i].Field = cmp.Or(arguments[f.Field], f.Field)
	}
	return &renamed
}

// invalidArgument is the code of an invalid call.
const invalidArgument = "INVALID_ARGUMENT"

// codes are the codes of errors in results, by the status of the API's answer.
var codes = map[int]string{
	http.StatusBadRequest: invalidArgument, http.StatusUnprocessableEntity: invalidArgument,
	http.StatusRequestEntityTooLarge: invalidArgument,
	http.StatusUnauthorized:          "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
	http.StatusNotFound: "NOT_FOUND", http.StatusGone: "NOT_FOUND",
	http.StatusConflict: "CONFLICT", http.StatusPreconditionFailed: "CONFLICT",
	http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInsufficientStorage: "RESOURCE_EXHAUSTED",
	http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusBadGateway: "UNAVAILABLE",
	http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
}

// fixes advise the model which of its tools helps. The API does not know the tools.
var fixes = map[int]string{
	http.StatusNotFound: "retrieve_memory shows the uri of whatever there is",
	http.StatusGone:     "memory_history tells by whom, and why",

	http.StatusRequestEntityTooLarge: "content has at most " + strconv.Itoa(domain.MaxContent) +
		" bytes: make several items of it",
}

func reasonOf(err error) reason {
	if bad, ok := errors.AsType[argumentError](err); ok {
		return reason{invalidArgument, bad.message}
	}
	refused, ok := errors.AsType[*client.Error](err)
	if !ok {
		if errors.Is(err, context.Canceled) {
			return reason{"CANCELLED", "the caller left"}
		}
		return reason{"INTERNAL", "something went wrong here"}
	}
	why := reason{Code: "INTERNAL", Message: refused.Error()}
	if refused.Detail != "" && len(refused.Errors) == 0 {
		why.Message = refused.Detail // the title repeats the code
	}
	advice, _ := errors.AsType[errorWithFix](err)
	if fix := cmp.Or(advice.fix, fixes[refused.Status], refused.Fix); fix != "" {
		why.Message += " (" + fix + ")"
	}
	switch code := codes[refused.Status]; {
	case errors.Is(err, context.DeadlineExceeded):
		why.Code = "DEADLINE_EXCEEDED"
	case refused.Status == 0:
		why.Code = "UNAVAILABLE"
	case code != "":
		why.Code = code
	}
	return why
}
