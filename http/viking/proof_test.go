package viking_test

import (
	"net/http"
	"slices"
	"testing"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/proof"
	"github.com/annals-kb/annals/http/servertest"
)

func TestBytesThatWereChangedAreNotServedAndAreNamed(t *testing.T) {
	each(t, open, func(t *testing.T, w *world) {
		ctx := database.ForTenant(t.Context(), domain.DefaultTenant)
		w.ask("POST", "/api/v1/resources", object{"temp_file_id": w.upload("photo.png", "image/png", []byte{0x89, 'P', 'N', 'G', 0, 0xff})}).object()
		faults := func() []proof.Fault {
			report, err := proof.Verify(ctx, w.db, proof.Verification{})
			if err != nil {
				t.Fatal(err)
			}
			return slices.DeleteFunc(report.Faults, func(f proof.Fault) bool { return f.Kind != proof.File })
		}
		if found := faults(); len(found) > 0 {
			t.Errorf("got %v, want nothing wrong", found)
		}
		servertest.Execute(t, w.db, "UPDATE files SET bytes = ?", []byte("other"))
		w.ask("GET", at("/api/v1/content/download", "viking://resources/photo/photo.png"), nil).want(http.StatusInternalServerError)
		if found := faults(); len(found) != 1 || found[0].Position == 0 {
			t.Errorf("got %v, want the file named", found)
		}
	})
}
