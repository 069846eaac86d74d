package http_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestABadCursorAndARepeatedParameterAreNamedWithTheOthers(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for path, want := range map[string][]string{
			"/v1/knowledge?cursor=x&limit=0&type=feeling":                           {"cursor", "limit", "type"},
			"/v1/events?cursor=x&limit=0&order=sideways":                            {"cursor", "order", "limit"},
			"/v1/knowledge?limit=1&limit=2&owner=user:1&owner=user:2&owned=user:1":  {"limit", "owned", "owner"},
			"/v1/knowledge?limit=2&cursor=AAAAAAAAAAVIFF3N-s5a9Q&cursor=AAAAAAAAAA": {"cursor"},
		} {
			var got []string
			for _, bad := range w.ask("GET", path, nil).want(http.StatusUnprocessableEntity).errors() {
				field, _, _ := strings.Cut(bad, ":")
				got = append(got, field)
			}
			if diff := cmp.Diff(got, want); diff != "" {
				t.Errorf("%s (-got +want):\n%s", path, diff)
			}
		}
		// What has alternatives may be repeated.
		w.ask("GET", "/v1/knowledge?type=tool&type=plan&status=active&status=deleted&cursor=", nil).want(http.StatusOK)
	})
}
