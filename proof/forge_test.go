package proof_test

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// rewrite changes who did what is recorded at a position, and computes its hash anew, as somebody would
// who knows how.
func (w *world) rewrite(position int64) {
	w.t.Helper()
	records := must(w.log.Records(w.t.Context(), "default", position-1, 1))(w.t)
	record := records[0]
	record.Actor = "user:somebody-else"
	hash := sha256.Sum256(record.Canonical())
	literal := w.pick("x'%s'", `'\x%s'`)
	w.tamper(fmt.Sprintf("UPDATE events SET actor = 'user:somebody-else', hash = "+literal+" WHERE position = %d",
		hex.EncodeToString(hash[:]), position))
}
