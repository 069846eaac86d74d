package knowledge

import (
	"strings"
	"testing"

	"github.com/annals-kb/annals/http/api"
)

func TestAHitWithoutAVectorSaysThatMeaningIsStillToCome(t *testing.T) {
	t.Parallel()
	var h api.Hit
	h.Parts.Lexical = 0.4
	for pending, want := range map[bool]string{
		false: "meaning 0.00 · words 0.40",
		true:  "meaning not computed yet · words 0.40",
	} {
		h.Parts.Pending = pending
		if got := howScored(h); !strings.HasPrefix(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
