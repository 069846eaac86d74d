package proof_test

import (
	"fmt"
	"testing"

	"github.com/annals-kb/annals/proof"
)

// A version that was retired loses its tables while a verification reads the catalogue and then each table.
func TestALogVerifiesWhileTablesOfVersionsAreDropped(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		w.live(2)
		w.grow()
		w.sign()
		const versions = 40
		for version := 2; version < versions; version++ {
			w.tamper(fmt.Sprintf("CREATE TABLE knowledge_%d AS SELECT * FROM knowledge_1", version))
		}
		dropped := make(chan error, 1)
		go func() {
			var err error
			for version := versions - 1; version > 1 &&
				err == nil; version-- { // the verification reads them the other way round
				err = w.exec(fmt.Sprintf("DROP TABLE knowledge_%d", version))
			}
			dropped <- err
		}()
		for dropping := true; dropping; {
			select {
			case err := <-dropped:
				if dropping = false; err != nil {
					t.Error(err)
				}
			default:
			}
			finds(t, w.verify(proof.Verification{}))
		}
	})
}
