package proof

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/annals-kb/annals/domain"
)

// recordedDigest is the digest of an item's bytes in the text of its first event; empty if there is none.
func recordedDigest(text []byte) string {
	var said struct {
		Meta struct {
			Bytes struct {
				SHA256 string `json:"sha256"`
			} `json:"bytes"`
		} `json:"meta"`
	}
	if json.Unmarshal(text, &said) != nil {
		return ""
	}
	return said.Meta.Bytes.SHA256
}

// files compares the bytes that are kept beside the log with their digests in it.
func (l *live) files(ctx context.Context, report *Report) error {
	tx, err := oneMoment(ctx, l.db.DB, l.db.Engine)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it was only read
	rows, err := tx.QueryContext(ctx, `
		SELECT f.tenant, f.id, f.bytes, e.position, t.text
		FROM files AS f
		JOIN events AS e ON e.tenant = f.tenant AND e.stream = ? || f.id AND e.version = 1
		JOIN event_texts AS t ON t.tenant = e.tenant AND t.position = e.position
		WHERE NOT f.waits
		ORDER BY f.tenant, f.id`, domain.KnowledgeStream(""))
	if err != nil {
		return err
	}
	defer rows.Close() //nolint:errcheck // its error is read below
	for rows.Next() {
		var tenant, id string
		var position int64
		var bytes, text sql.RawBytes
		if err := rows.Scan(&tenant, &id, &bytes, &position, &text); err != nil {
			return err
		}
		sum := sha256.Sum256(bytes)
		if digest := recordedDigest(text); digest != "" && !strings.EqualFold(digest, hex.EncodeToString(sum[:])) {
			report.fault(tenant, position, File, "the bytes of %s are not those that were recorded", id)
		}
	}
	return rows.Err()
}
