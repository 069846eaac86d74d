package logtest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
)

// destroyedText deletes the texts of an item, as its erasure does.
func destroyedText(w *world) {
	w.do(w.remember("k"))
	w.do(w.revise("k", "Retry twice.", 1))
	w.do(w.vote("k", "t"))
	w.do(domain.Revise{Target: domain.Target{By: w.by, ID: "k"}, Owner: "team:pay"})
	kept := w.do(w.remember("l")).Events[0]

	databasetest.Tamper(
		w, w.db, fmt.Sprintf("DELETE FROM event_texts WHERE tenant = '%s' AND position < %d", w.by.Tenant, kept.Position),
	)
	all := w.events() // verifies as before
	for i, erased := range []bool{true, true, true, false, false} {
		if all[i].TextErased != erased || erased && all[i].Text != nil {
			w.Errorf("position %d, %s: text erased %v, want %v", i+1, all[i].Name, all[i].TextErased, erased)
		}
	}
	k := w.at("k", 1000)
	if k.Version != 4 || k.Helpful != 2 || k.Owner != "team:pay" || k.Type != domain.Strategy {
		w.Errorf("got %+v, want what was plain to stay", k)
	}
	if k.Text.Content != "" || k.Text.Task != "" || k.Text.URI != "" {
		w.Errorf("got text %+v, want none", k.Text)
	}
	if diff := cmp.Diff(kept, all[4]); diff != "" {
		w.Errorf("another item (-before +after):\n%s", diff)
	}
}

func tenantsAreApart(w *world) {
	tenants := []string{"acme", "Acme", "zen"}
	for i, tenant := range tenants {
		w.by.Tenant = tenant
		for n := range i + 1 {
			if got := w.do(w.remember(numbered("k", n))); got.Position != int64(n)+1 {
				w.Errorf("%s: got position %d, want %d", tenant, got.Position, n+1)
			}
		}
	}
	got, err := w.log.Reader.Tenants(w.Context())
	if err != nil {
		w.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Acme", "acme", "zen"}, got); diff != "" {
		w.Errorf("(-want +got):\n%s", diff)
	}
	for i, tenant := range tenants {
		w.by.Tenant = tenant
		if got := len(w.events()); got != i+1 {
			w.Errorf("%s: got %d events, want %d", tenant, got, i+1)
		}
		found, _, err := w.log.Finder.Find(w.Context(), domain.EventQuery{Tenant: tenant})
		if err != nil || len(found) != i+1 {
			w.Errorf("%s: found %d events, %v, want %d", tenant, len(found), err, i+1)
		}
	}
	w.by.Tenant = "acme"
	if _, err := w.log.Submit(w.Context(), w.submission(w.vote("k-2", "t"))); !errors.Is(err, domain.ErrNotFound) {
		w.Errorf("another tenant's item: got %v, want %v", err, domain.ErrNotFound)
	}
	if k := w.at("k-2", 1000); k.Exists() || strings.Contains(k.Text.Content, "Retry") {
		w.Error("another tenant's item was replayed")
	}
}
