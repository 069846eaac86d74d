package viking_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/annals-kb/annals/http/document"
)

func TestMain(m *testing.M) {
	document.Aside()
	goleak.VerifyTestMain(m)
}
