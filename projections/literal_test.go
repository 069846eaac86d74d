package projections_test

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/domain"
)

// whatever means something to SQL, to arrays or to the query builder.
const whatever = `dir\file o'neill it's a "quoted" C:\path\'x' \ {a,b} NULL "NULL" $1 ? ?0 :name %s -- ; /* */ ` +
	"`tick` \t\n\r 知识''库 \u2028 \U0001F4A1"

func TestWhateverPeopleWriteIsStoredAsItIs(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for id, content := range map[string]string{
			"short": whatever,
			"long":  whatever + distinctWords(2000), // too long for a bag
		} {
			w.know(id, domain.Remembered{
				Type: domain.Tool, Scopes: []domain.Scope{"team:pay"},
				Text: domain.Text{
					Content: content, Task: strings.TrimSpace(whatever), Abstract: whatever, Overview: whatever,
					Tags: domain.Tags{"path": {`C:\it's\"here"`}}, Meta: []byte(`{"quote":"it's \"\\"}`),
				},
				Source: domain.Source{Name: whatever, URLs: []string{`file:///C:\'`}, TraceID: `a'b"c\d`},
			})
		}
		equal(t, folded(w.items()), w.stored(), "tables (-folded +stored)")
		for _, question := range []string{`c:\path`, "知识"} {
			if got := len(w.find(domain.Search{Text: question})); got != 2 {
				t.Errorf("found %d items about %s, want both", got, question)
			}
		}
	})
}
