package viking_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/annals-kb/annals/http/document" // part: documents
)

func TestMain(m *testing.M) {
	document.Aside() // part: documents
	goleak.VerifyTestMain(m)
}
