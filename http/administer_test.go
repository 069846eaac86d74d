package http_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/servertest"
)

func TestOnlyRootRebuilds(t *testing.T) {
	t.Parallel()
	for role, want := range map[domain.Role]int{
		domain.Member: http.StatusForbidden, domain.Service: http.StatusForbidden, domain.Auditor: http.StatusForbidden,
		domain.Admin: http.StatusForbidden, domain.Root: http.StatusNotFound, // this server rebuilds nothing
	} {
		s := servertest.Config{}.New()
		s.As(domain.Principal{Tenant: "t", Subject: "user:somebody", Role: role})
		for _, route := range [][2]string{
			{"POST", "/rebuild"}, {"GET", "/rebuild"}, {"GET", "/rebuild/plan"}, {"DELETE", "/rebuild"}, {"POST", "/rollback"}, {"POST", "/retire"},
		} {
			answered := httptest.NewRecorder()
			s.Handler().ServeHTTP(answered, httptest.NewRequestWithContext(t.Context(), route[0], "/v1/projections/knowledge"+route[1], nil))
			if answered.Code != want {
				t.Errorf("%s as %s: got %d, want %d", route, role, answered.Code, want)
			}
		}
	}
}
