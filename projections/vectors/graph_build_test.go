package vectors

import (
	"testing"

	"github.com/annals-kb/annals/database/databasetest"
)

func TestAnIndexBuildHasTheMemoryThatTheDatabaseGrants(t *testing.T) {
	t.Parallel()
	url := databasetest.Postgres(t)
	for granted, want := range map[string]string{"64MB": "256MB", "1GB": "1GB"} {
		pool, err := databasetest.Open(t, url+"&maintenance_work_mem="+granted).OpenReadPool(t.Context(), 1)
		if err != nil {
			t.Fatal(err)
		}
		defer pool.Close()
		if _, err := pool.ExecContext(t.Context(), enoughMemory); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := pool.QueryRowContext(t.Context(), "SHOW maintenance_work_mem").Scan(&got); err != nil || got != want {
			t.Errorf("where %s are granted a build has %s, want %s (%v)", granted, got, want, err)
		}
	}
}
