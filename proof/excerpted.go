package proof

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// beginExcerpt looks at what every line of an excerpt is held against.
func (x *exported) beginExcerpt(m *manifest) {
	x.whole, x.apart = false, true
	x.checkpoint, x.trusted = x.open(signed{size: m.Through, note: m.Checkpoint, signer: theCheckpoint})
	x.report.Unchecked = append(x.report.Unchecked,
		"whether the filters would have chosen more: only a whole export can show that nothing is left out")
}

// takeExcerpt holds a record against the checkpoint.
func (x *exported) takeExcerpt(c *chunk, i int) {
	r := &c.records[i]
	if r.kind == Export {
		x.fault(x.last+1, Export, "%s", r.fault)
		return
	}
	x.tenant.Events++
	if r.position <= x.last {
		x.fault(r.position, Order, "it comes after position %d", x.last)
	}
	x.last = max(x.last, r.position)
	x.tenant.Through = x.last
	if r.fault != "" {
		x.fault(r.position, r.kind, "%s", r.fault)
	}
	if r.kind == Hash {
		return
	}
	x.texts(c, r)
	path, err := hashesOf(c.paths[i])
	switch {
	case err != nil:
		x.fault(r.position, Tree, "%s", err)
	case x.trusted && tlog.CheckRecord(path, x.checkpoint.Size, tlog.Hash(x.checkpoint.Root), r.position-1, tlog.RecordHash(r.computed[:])) != nil:
		x.fault(r.position, Tree, "its proof does not lead to the log that was signed: it is not what was recorded at this position")
	}
}

// endExcerpt compares what the file holds with what its manifest says.
func (x *exported) endExcerpt() {
	m, t := x.manifest, x.tenant
	if t.Events != m.Count || x.last > m.Through {
		x.fault(x.last, Export, "the manifest says that it holds %d events up to position %d, and it holds %d up to position %d", m.Count, m.Through, t.Events, x.last)
	}
	if n := len(x.missing); n > 0 {
		x.report.Unchecked = append(x.report.Unchecked, fmt.Sprintf("%d missing texts: whether they were erased, the whole log says", n))
	}
	if x.trusted {
		t.Checkpoints, t.Signed, t.Root = 1, x.checkpoint.Size, x.checkpoint.Root[:]
	}
}
