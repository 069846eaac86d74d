package serve

import (
	"context"

	"github.com/annals-kb/annals/http/document"
)

// openDocuments offers what reads documents.
func openDocuments(context.Context, *core) (part, error) {
	apart, err := document.NewApart()
	return part{offers: []any{apart}}, err
}
