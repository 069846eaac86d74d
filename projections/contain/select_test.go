package contain_test

import (
	"slices"
	"testing"
	"time"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/contain"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

func TestASourceIsSelectedByWhatIsKnownOfIt(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		said := w.Says(domain.SessionTarget{By: w.By, Owner: "user:mia", ID: "s1"}, "the account is ZZ99")
		class := domain.Class{Type: domain.Strategy}
		for id, item := range map[string]domain.Remembered{
			"named":   {Source: domain.Source{Name: "wiki"}},
			"linked":  {Source: domain.Source{URLs: []string{"https://wiki.example/a/b"}}},
			"beside":  {Source: domain.Source{URLs: []string{"https://wiki.example.org/a"}}},
			"traced":  {Source: domain.Source{TraceID: "s1"}},
			"learned": {DerivedFrom: []string{said.Events[len(said.Events)-1].EventID}},
			"short":   {Text: domain.Text{Content: "yes"}},
			"shorter": {Text: domain.Text{Content: "yes"}},
		} {
			item.Class, item.Owner = class, "user:mia"
			if item.Text.Content == "" {
				item.Text.Content = "what " + id + " says of this"
			}
			w.Know(id, item)
		}
		all := &contain.Containments{View: w.Base.View, Log: w.Log}
		for _, one := range []struct {
			tainting domain.Tainting
			want     []string
		}{
			{domain.Tainting{Source: "wiki"}, []string{"named"}},
			{domain.Tainting{Source: "https://wiki.example"}, []string{"linked"}},
			{domain.Tainting{Session: "user:mia/s1"}, []string{"learned", "traced"}},
			{domain.Tainting{Session: "mia/s1", Source: "wiki"}, nil},
			{domain.Tainting{Items: []string{"short"}, Source: "wiki"}, []string{"named", "short"}},
			{domain.Tainting{Actor: w.By.Subject, Since: time.Now().Add(time.Hour)}, nil},
			{domain.Tainting{Actor: "agent:nobody"}, nil},
		} {
			effect := Must(all.Preview(t.Context(), w.By, one.tainting))(t)
			var got []string
			for _, i := range effect.Items {
				got = append(got, i.ID)
			}
			slices.Sort(got)
			Equal(t, got, one.want, "%+v", one.tainting)
		}
	})
}
