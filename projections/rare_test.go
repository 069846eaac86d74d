package projections_test

import (
	"context"
	"testing"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/browse"
)

// rareReads look for what few items are, and most are not.
func rareReads() []work {
	stale := true
	by := domain.OpenPrincipal()
	listing := func(filter domain.Filter) func(*world) {
		return func(w *world) { nothing(w.t)(w.base.List(w.t.Context(), domain.List{By: by, Filter: filter})) }
	}
	choosing := func(q domain.EventQuery) func(*world) {
		q.Tenant = by.Tenant
		return func(w *world) {
			w.reader() // knows the past
			_, _, err := w.base.Streams(w.t.Context(), q, 10)
			nothing(w.t)(nil, err)
		}
	}
	reporting := func(report func(browse.Reports, context.Context, domain.ReportQuery) ([]domain.ReportItem,
		error),
	) func(*world) {
		return func(w *world) {
			nothing(w.t)(report(browse.Reports{Browser: w.base.Browser, Log: w.log.Log}, w.t.Context(),
				domain.ReportQuery{Tenant: by.Tenant, Limit: 10}))
		}
	}
	return []work{
		{name: "report what did harm", do: reporting(browse.Reports.Harm), onSQLite: true},
		{name: "report what is stale", do: reporting(browse.Reports.Stale)},
		{name: "list a strange scope's", do: listing(domain.Filter{Scope: "user:nobody"}), fromScopes: true},
		{name: "list what lies nowhere", do: listing(domain.Filter{URIPrefix: "viking://nowhere/"}), fromScopes: true},
		{name: "list what is public", do: listing(domain.Filter{Visibility: domain.PublicWide}), fromScopes: true},
		{name: "list what was forgotten", do: listing(domain.Filter{Statuses: []domain.Status{domain.IsDeleted}})},
		{name: "list what was superseded", do: listing(domain.Filter{Statuses: []domain.Status{domain.IsSuperseded}})},
		{name: "list what is stale", do: listing(domain.Filter{Stale: &stale})},
		{name: "follow a lineage", do: func(w *world) { nothing(w.t)(w.base.Lineage(w.t.Context(), by.Tenant, "i77")) }},
		{name: "find what was learned", do: func(w *world) {
			nothing(w.t)(w.base.Learned(w.t.Context(), by.Tenant, []string{"session:123/s"}))
		}},
		{name: "choose a stranger's items", do: choosing(domain.EventQuery{Owner: "user:nobody"})},
		{name: "choose a strange scope's items", do: choosing(domain.EventQuery{Scope: "user:nobody"})},
	}
}

// nothing ends the test if something could not be read.
func nothing(t *testing.T) func(any, error) {
	return func(_ any, err error) {
		t.Helper()
		if err != nil {
			t.Error(err)
		}
	}
}
