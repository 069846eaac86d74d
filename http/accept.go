package http

import (
	"mime"
	"strconv"
	"strings"

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

func matches(wanted, offer string) bool {
	family, _, _ := strings.Cut(offer, "/")
	return wanted == offer || wanted == "*/*" || wanted == family+"/*"
}
