package projections_test

import (
	"bytes"
	"encoding/json"

	"github.com/annals-kb/annals/domain"
)

// mark is what the canary becomes. It is longer.
const mark = "[REDACTED_ANIMAL]"

// leak is an item that says the canary in every way but in its URI.
func (w *world) leak(id string) { w.tell(id, "viking://resources/animals/"+id) }

// redact takes the canary out of everything that was recorded about an item.
func (w *world) redact(id string) domain.Receipt {
	w.t.Helper()
	return w.submit(domain.Redact{
		By: w.by, Of: domain.KnowledgeStream(id), To: 1 << 40,
		Scrub: func(text json.RawMessage) (json.RawMessage, map[string]int, error) {
			n := bytes.Count(text, []byte(canary))
			if n == 0 {
				return text, nil, nil
			}
			return bytes.ReplaceAll(text, []byte(canary), []byte(mark)), map[string]int{"animal": n}, nil
		},
	})
}
