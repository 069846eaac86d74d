package database

import (
	"strings"
	"testing"
)

func TestAServerThatCannotServeIsRefusedWithItsFix(t *testing.T) {
	t.Parallel()
	good := server{address: "db:5432", database: "annals", version: 150020, encoding: "UTF8", availableVector: "0.8.0"}
	for name, test := range map[string]struct {
		change func(*server)
		want   string // empty: it can serve
	}{
		"pgvector is available":          {func(*server) {}, ""},
		"pgvector is installed":          {func(s *server) { s.installedVector, s.availableVector = "0.10.1", "" }, ""},
		"no pgvector":                    {func(s *server) { s.availableVector = "" }, "postgresql-15-pgvector"},
		"pgvector too old":               {func(s *server) { s.availableVector = "0.6.0" }, "install 0.8 or newer"},
		"pgvector was installed too old": {func(s *server) { s.installedVector = "0.7.4" }, "ALTER EXTENSION vector UPDATE"},
		"PostgreSQL too old":             {func(s *server) { s.version = 130011 }, "use 14 or newer"},
		"another encoding":               {func(s *server) { s.encoding = "SQL_ASCII" }, "ENCODING 'UTF8'"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := good
			test.change(&s)
			err := s.unfit()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
