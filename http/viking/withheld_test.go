package viking_test

import (
	"bytes"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

// Whatever an agent asks of this surface, even as an admin, it has nothing of what is quarantined.
func TestAgentsAreNotToldWhatIsQuarantined(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		const uri, told = "viking://resources/accounts/payout.md", "zanzibar"
		w.ask("POST", "/api/v1/content/write", object{"uri": uri, "content": "The payout account is zanzibar.", "mode": "create"}).result()
		says := func() (all []string) {
			for _, ask := range []func() *answer{
				func() *answer { return w.ask("GET", at("/api/v1/fs/ls", "viking://resources/accounts"), nil) },
				func() *answer { return w.ask("GET", at("/api/v1/fs/tree", "viking://resources"), nil) },
				func() *answer { return w.ask("GET", at("/api/v1/fs/stat", uri), nil) },
				func() *answer { return w.ask("GET", at("/api/v1/content/read", uri), nil) },
				func() *answer {
					return w.ask("GET", at("/api/v1/content/abstract", "viking://resources/accounts"), nil)
				},
				func() *answer {
					return w.ask("GET", at("/api/v1/content/overview", "viking://resources/accounts"), nil)
				},
				func() *answer { return w.ask("GET", at("/api/v1/content/download", uri), nil) },
				func() *answer {
					return w.ask("POST", "/api/v1/search/find", object{"query": "payout account"})
				},
				func() *answer {
					return w.ask("POST", "/api/v1/search/search", object{"query": "payout account"})
				},
				func() *answer {
					return w.ask("POST", "/api/v1/search/grep", object{"pattern": "account is", "uri": "viking://resources"})
				},
				func() *answer {
					return w.ask("POST", "/api/v1/search/glob", object{"pattern": "**/*.md", "uri": "viking://resources"})
				},
			} {
				if a := ask(); a.status < 300 && (bytes.Contains(a.body, []byte(told)) || bytes.Contains(a.body, []byte("payout.md"))) {
					all = append(all, a.what)
				}
			}
			return all
		}
		if before := says(); len(before) < 6 {
			t.Errorf("before, only %v said it", before)
		}
		by := domain.OpenPrincipal()
		k, err := w.base.Browser.At(database.ForTenant(t.Context(), by.Tenant), by.Tenant, uri)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.log.Submit(t.Context(), domain.Submission{By: by, Command: domain.Quarantine{
			Target: domain.Target{By: by, ID: k.ID}, Containment: "c",
		}}); err != nil {
			t.Fatal(err)
		}
		if after := says(); len(after) > 0 {
			t.Errorf("told by %v", after)
		}
	})
}
