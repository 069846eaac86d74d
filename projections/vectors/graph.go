package vectors

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/uptrace/bun"

	"github.com/annals-kb/annals/domain"
)

// A graph is an HNSW index (Malkov and Yashunin, 2016) of the sketches of one place: a scope, or a whole
// tenant. Each large place has its own, so that a walk meets nothing but what it looks for, however
// small a part of all that is.
const (
	// graphItems is how many pieces a place holds when walking takes no longer than scanning.
	graphItems = 8000
	// maxGraphs is how many there are at most, for the largest places: every statement that searches has to
	// be planned among them, and every piece that is written is compared with their conditions.
	maxGraphs = 64
	// graphAge is for how long what is known of the graphs serves.
	graphAge = 10 * time.Second
)

// graphs remembers which graphs there are.
type graphs struct {
	mu      sync.Mutex
	names   map[string]bool
	checked time.Time
}

// graphName names the graph of a place: one of a version of the projection.
func graphName(tables Tables, tenant string, scope domain.Scope) string {
	place := sha256.Sum256([]byte(tenant + "\x00" + string(scope)))
	return fmt.Sprintf("%s_graph_%s", tables.pieces, hex.EncodeToString(place[:10]))
}

// known are the names of the graphs that can be walked.
func (g *graphs) known(ctx context.Context, m *Projection) (map[string]bool, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if time.Since(g.checked) < graphAge {
		return g.names, nil
	}
	found, err := m.graphs(ctx, m.db)
	if err != nil {
		return nil, err
	}
	names := make(map[string]bool, len(found))
	for name, valid := range found {
		if valid {
			names[name] = true
		}
	}
	g.names, g.checked = names, time.Now()
	return names, nil
}

func (g *graphs) forget() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.checked = time.Time{}
}

// graphs lists the graphs of this version, and which of them are whole.
func (m *Projection) graphs(ctx context.Context, db bun.IDB) (map[string]bool, error) {
	rows, err := db.QueryContext(ctx, `
		SELECT c.relname, i.indisvalid
		FROM pg_index AS i
		JOIN pg_class AS c ON c.oid = i.indexrelid
		WHERE i.indrelid = to_regclass(?) AND c.relname LIKE ?`,
		string(m.Tables.pieces), string(m.Tables.pieces)+`\_graph\_%`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	found := map[string]bool{}
	for rows.Next() {
		var name string
		var valid bool
		if err := rows.Scan(&name, &valid); err != nil {
			return nil, err
		}
		found[name] = valid
	}
	return found, rows.Err()
}
