package terminal

import (
	"strings"
	"testing"
)

func TestWhatHasALineBreakIsNamed(t *testing.T) {
	t.Parallel()
	for want, r := range map[string]Remote{
		"a key has":            {APIKey: "x\ny"},
		"a tenant's name has":  {Tenant: "a\nb"},
		"an entity's name has": {As: "user:a\nb"},
	} {
		r.Server = "http://127.0.0.1:1933"
		if _, err := r.Connect(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
