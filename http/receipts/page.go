package receipts

import (
	"bytes"
	_ "embed"
	"html/template"
	"slices"
	"strings"
	"time"

	"github.com/annals-kb/annals/http/api"
)

//go:embed evidence/index.html
var indexText string

//go:embed evidence/controls.html
var controlsText []byte

//go:embed evidence/style.css
var style string

var index = template.Must(template.New("index").Funcs(template.FuncMap{
	"style": func() template.CSS { return template.CSS(style) },
	"time":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") },
}).Parse(indexText))

// page is the page that people read: the answers, with titles before ids.
func (b *bundle) page(m manifest) ([]byte, error) {
	var out bytes.Buffer
	err := index.Execute(&out, map[string]any{
		"manifest": m, "receipts": b.shown, "told": told(b.shown), "key": b.Prover.Key(),
	})
	return out.Bytes(), err
}

// controlsPage is the page that maps the parts of evidence to controls.
func controlsPage() []byte {
	return bytes.ReplaceAll(controlsText, []byte("/* style */"), []byte(style))
}

// toldItem is an item that callers were told.
type toldItem struct {
	Title, ID string
	Times     int
	To        []string
}

// told are the items of receipts, those that were told most often first, and to whom.
func told(all []api.ReceiptShown) []toldItem {
	var items []toldItem
	for _, receipt := range all {
		for _, item := range receipt.Items {
			if item.Cut || item.ID == "" {
				continue
			}
			at := slices.IndexFunc(items, func(t toldItem) bool { return t.ID == item.ID })
			if at < 0 {
				at = len(items)
				items = append(items, toldItem{Title: item.Title, ID: item.ID})
			}
			to := receipt.Caller
			if receipt.OnBehalfOf != "" {
				to += " for " + receipt.OnBehalfOf
			}
			if items[at].Times++; to != "" && !slices.Contains(items[at].To, to) {
				items[at].To = append(items[at].To, to)
			}
		}
	}
	slices.SortStableFunc(items, func(a, b toldItem) int { return b.Times - a.Times })
	return items
}

// Callers is to whom an item was told.
func (t toldItem) Callers() string { return strings.Join(t.To, ", ") }
