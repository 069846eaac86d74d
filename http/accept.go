package http

import (
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
)

// The forms in which lists can be had besides JSON.
const (
	streamType = "text/event-stream"
	csvType    = "text/csv"
)

// accepts picks the form of an answer: of those offered, the one that the caller likes best, the first
// if it has no preference. A refusal names what there is.
func (c *call) accepts(offered ...string) (string, error) {
	best, liked := "", 0.0
	wanted := strings.Join(c.request.Header.Values("Accept"), ",")
	if strings.TrimSpace(wanted) == "" {
		return offered[0], nil
	}
	for part := range strings.SplitSeq(wanted, ",") {
		media, parameters, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		quality, err := strconv.ParseFloat(parameters["q"], 64)
		if err != nil {
			quality = 1
		}
		for _, offer := range offered {
			if matches(media, offer) && quality > liked {
				best, liked = offer, quality
			}
		}
	}
	if best == "" {
		return "", domain.Refuse(errAccept, "there is no such answer to this").
			WithFix("accept one of %s", strings.Join(offered, ", "))
	}
	return best, nil
}

// onlyForm is the form of what an operation reads out, and says that there is no other; empty for one that writes, or
// that picks a form itself.
func onlyForm(op *huma.Operation) string {
	if op.Method != http.MethodGet || slices.Contains(op.Errors, http.StatusNotAcceptable) {
		return ""
	}
	op.Errors = append(slices.Clone(op.Errors), http.StatusNotAcceptable)
	if answer := op.Responses["200"]; answer != nil {
		for form := range answer.Content {
			return form
		}
	}
	return jsonType
}

func matches(wanted, offer string) bool {
	family, _, _ := strings.Cut(offer, "/")
	return wanted == offer || wanted == "*/*" || wanted == family+"/*"
}
