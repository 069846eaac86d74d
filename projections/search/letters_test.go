package search_test

import (
	"slices"
	"testing"

	"golang.org/x/text/unicode/norm"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// ask gives the answer that users get, copies as one hit.
func ask(t *testing.T, w *World, question string) domain.Answer {
	t.Helper()
	s := Must(domain.Search{By: w.By, Text: question, Everyone: true}.Complete())(t)
	return Must(w.Base.Searcher.Search(t.Context(), s))(t)
}

func found(a domain.Answer) (ids []string) {
	for _, hit := range a.Hits {
		ids = append(ids, hit.ID)
	}
	return ids
}

func TestMarksOfLettersDoNotMatter(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		for id, content := range map[string]string{
			"city":   "The Zürich office has twelve desks by the window.",
			"paper":  "Every candidate sends a résumé before the call.",
			"resume": "Every worker must resume a job before the call.",
			"street": "Deliveries go to the Straße behind the mill.",
			"length": "Layers are measured in Ångström by the lab.",
			"people": "González and Łukasz met Søren in Malmö.",
			"tree":   "Зелёная ёлка стоит во дворе.",
			"other":  "The lift is out of order until Friday.",
		} {
			w.Remember(id, content, "team:pay")
			w.Remember(id+"-apart", norm.NFD.String(content)+" Noted.", "team:pay")
		}
		w.Understand()
		for question, want := range map[string]string{
			"zurich": "city", "Zürich": "city", "ZÜRICH": "city", "resume": "resume", "résumé": "paper", "strasse": "street",
			"STRASSE": "street", "angstrom": "length", "Gonzalez": "people", "lukasz": "people", "soren": "people",
			"malmo": "people", "елка": "tree",
		} {
			for _, question := range []string{question, norm.NFD.String(question)} {
				got := found(ask(t, w, question))
				if len(got) < 2 || got[0] != want && got[0] != want+"-apart" || !slices.Contains(got, want) ||
					!slices.Contains(got, want+"-apart") {
					t.Errorf("%q found %v, want %s in both forms first", question, got, want)
				}
			}
		}
	})
}
