package proof

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
)

// row is a row of the stored tree.
type row struct {
	number, size int64
	hashes       []byte
}

// theCheckpoint names the checkpoint of an export, which may cover more events than the export.
const theCheckpoint = "the checkpoint"

// signed is a stored checkpoint.
type signed struct {
	size   int64
	signer string
	note   string
}

// verifier reads one tenant's log from its beginning to its end, and compares it with the tree and the checkpoints.
// Its memory grows by forty bytes per stream, and with erased texts.
type verifier struct {
	report    *Report
	tenant    *Tenant
	verifiers note.Verifiers // nil if there is no key to verify with

	last      int64 // position of the previous record
	lastID    []byte
	lastAt    []byte
	versions  map[[16]byte]int64
	doubtful  int64 // records that were changed; each may be the missing version of an unknown stream
	whole     bool  // the export contains the beginnings of the streams
	noTexts   bool  // texts were left out on purpose
	missing   map[string]int64
	erasedIDs map[string]bool

	leaves  []leaf // of the tree, not compared yet
	tree    frontier
	other   *frontier // of a file: the tree in case a changed record is right and its stored hash is wrong
	number  int64     // of the next stored hash
	torn    bool      // the rest of the tree cannot be read
	signed  []signed
	agreed  int64 // the largest signed size that agrees with the tree
	unknown bool
}

// leaf is the hash in the tree at a position.
type leaf struct {
	position int64
	hash     tlog.Hash
}

func newVerifier(report *Report, tenant string, verifiers note.Verifiers) *verifier {
	t := &Tenant{Tenant: tenant, From: 1}
	report.Tenants = append(report.Tenants, t)
	return &verifier{
		report: report, tenant: t, verifiers: verifiers, whole: true,
		versions: map[[16]byte]int64{}, missing: map[string]int64{}, erasedIDs: map[string]bool{},
	}
}

func (e *verifier) fault(position int64, kind, format string, values ...any) {
	e.report.fault(e.tenant.Tenant, position, kind, format, values...)
}

// take processes the next examined chunk.
func (e *verifier) take(c *chunk) {
	e.signed = append(e.signed, c.signed...)
	for _, row := range c.rows {
		e.takeRow(row)
	}
	for i := range c.records {
		e.takeRecord(c, &c.records[i])
	}
}

func (e *verifier) takeRecord(c *chunk, r *record) {
	e.tenant.Events++
	if want := e.last + 1; r.position > want {
		e.gone(want, r.position-1)
	}
	e.last = max(e.last, r.position)
	e.tenant.Through = e.last
	e.compare(r)
	if r.fault != "" {
		e.fault(r.position, r.kind, "%s", r.fault)
		if r.kind == Hash { // its fields cannot be trusted
			e.doubtful++
			return
		}
	}
	e.ascends(c, r)
	e.texts(c, r)
}

// gone notes missing positions, and skips their leaves.
func (e *verifier) gone(from, through int64) {
	if from == through {
		e.fault(from, Missing, "the event is missing")
	} else {
		e.fault(from, Missing, "the events at positions %d to %d are missing", from, through)
	}
	for len(e.leaves) > 0 && e.leaves[0].position <= through {
		e.leaves = e.leaves[1:]
	}
}

// compare compares a record with the leaf at its position.
func (e *verifier) compare(r *record) {
	if len(e.leaves) == 0 || e.leaves[0].position != r.position {
		return // the tree does not reach this position
	}
	leaf := e.leaves[0].hash
	e.leaves = e.leaves[1:]
	switch {
	case leaf == tlog.RecordHash(r.computed[:]):
		if r.kind == Hash {
			r.fault = "the stored hash is not the record's; the record is what is in the tree"
		}
	case r.kind != Hash:
		e.fault(r.position, Tree, "the record is another than the one in the tree")
	}
}

// ascends checks the values that must grow along a log.
func (e *verifier) ascends(c *chunk, r *record) {
	if id := c.of(r.eventID); bytes.Compare(id, e.lastID) <= 0 {
		e.fault(r.position, Order, "the event's id comes before that of the event before")
	} else {
		e.lastID = append(e.lastID[:0], id...)
	}
	if at := c.of(r.at); bytes.Compare(at, e.lastAt) < 0 {
		e.fault(r.position, Order, "it was recorded before the event before it")
	} else {
		e.lastAt = append(e.lastAt[:0], at...)
	}
	before, seen := e.versions[r.key]
	switch want := before + 1; {
	case r.version == want || !seen && !e.whole:
	case r.version > want && r.version-want <= e.doubtful:
		e.doubtful -= r.version - want
	default:
		e.fault(r.position, Order, "it is version %d of its stream, and version %d was to come", r.version, want)
	}
	e.versions[r.key] = r.version
}

// texts tracks missing texts, and texts that an event erased.
func (e *verifier) texts(c *chunk, r *record) {
	switch {
	case r.text.present:
		e.tenant.Texts++
	case r.seal.present && !e.noTexts:
		e.missing[string(c.of(r.eventID))] = r.position
	}
	if name := string(c.of(r.name)); e.noTexts || !strings.HasSuffix(name, ".erased") &&
		!strings.HasSuffix(name, ".redacted") {
		return
	}
	var erasure struct {
		Events []string `json:"events"`
	}
	if err := json.Unmarshal(c.of(r.data), &erasure); err != nil {
		e.fault(r.position, Text, "which texts were erased cannot be read")
	}
	for _, id := range erasure.Events {
		if _, isMissing := e.missing[id]; isMissing {
			delete(e.missing, id)
			e.tenant.Erased++
			e.erasedIDs[id] = true
		} else if !e.erasedIDs[id] && e.whole {
			e.fault(r.position, Text, "it says that the text of event %s was erased, and that is still there or never was", id)
		}
	}
}

// takeRow processes the next row of the tree: its nodes must follow from its leaves.
func (e *verifier) takeRow(r row) {
	if e.torn {
		return
	}
	begins := e.tree.size + 1
	if r.number != e.number || len(r.hashes)%tlog.HashSize != 0 {
		e.torn = true
		e.fault(begins, Tree, "the stored tree breaks off before this position")
		return
	}
	for at := 0; at < len(r.hashes); {
		leafHash := tlog.Hash(r.hashes[at:])
		nodes := e.tree.add(leafHash, nil)
		if at+len(nodes)*tlog.HashSize > len(r.hashes) {
			e.torn = true
			e.fault(e.tree.size, Tree, "a row of the stored tree is too short")
			return
		}
		for i, node := range nodes {
			if node != tlog.Hash(r.hashes[at+i*tlog.HashSize:]) {
				e.fault(e.tree.size, Tree, "the stored tree is damaged: a node does not follow from its leaves")
			}
		}
		e.leaves = append(e.leaves, leaf{e.tree.size, leafHash})
		at += len(nodes) * tlog.HashSize
		e.number += int64(len(nodes))
		e.compareSigned()
	}
	if r.size != e.tree.size {
		e.fault(e.tree.size, Tree, "a row of the stored tree says that it ends at position %d", r.size)
	}
	e.tenant.Tree = e.tree.size
}

// compareSigned compares a checkpoint with the tree, as soon as the tree has its size.
func (e *verifier) compareSigned() {
	for len(e.signed) > 0 && e.signed[0].size <= e.tree.size {
		s := e.signed[0]
		e.signed = e.signed[1:]
		c, ok := e.open(s)
		switch {
		case !ok:
		case s.size < e.tree.size:
			e.fault(s.size, Checkpoint, "a checkpoint came too late to be compared")
		case !e.hasRoot(c.Root):
			e.fault(s.size, Checkpoint,
				"%s signed another tree of %d events: something at the positions %d to %d was changed since%s",
				s.signer, s.size, e.agreed+1, s.size, otherLog(s))
		default:
			e.tenant.Checkpoints++
			e.agreed, e.tenant.Signed = s.size, s.size
		}
	}
}

// hasRoot reports whether the tree has this root. Where a record and its stored hash differ, either may have been
// signed: the alternative that does not lead to the root is dropped.
func (e *verifier) hasRoot(root domain.Digest) bool {
	if e.other != nil && root == domain.Digest(e.other.root()) {
		e.tree, e.other = *e.other, nil
	}
	if root != domain.Digest(e.tree.root()) {
		return false
	}
	e.other = nil
	return true
}

// open decodes a checkpoint, and checks that a trusted key has signed it for this log.
func (e *verifier) open(s signed) (domain.Checkpoint, bool) {
	var c domain.Checkpoint
	var err error
	if e.verifiers == nil {
		e.unknown = true
		text, _, _ := strings.Cut(s.note, "\n\n")
		c, err = parse(text + "\n")
	} else {
		c, err = open(s.note, e.verifiers)
	}
	switch {
	case err != nil:
		e.fault(s.size, Signature, "a checkpoint is not to be trusted: %s", err)
	case !strings.HasSuffix(c.Origin, "/"+e.tenant.Tenant):
		e.fault(s.size, Signature, "a checkpoint is of another log: %s", c.Origin)
	case c.Size != s.size && s.signer != theCheckpoint:
		e.fault(s.size, Signature, "a checkpoint is of %d events", c.Size)
	default:
		return c, true
	}
	return c, false
}

// orphanTexts notes texts without an event.
func (e *verifier) orphanTexts(positions []int64) {
	for _, position := range positions {
		e.fault(position, Text, "there is a text that belongs to no event")
	}
}

// missingTenant notes that other tables name a tenant without a log.
func (e *verifier) missingTenant(naming []string) {
	if len(naming) > 0 {
		e.fault(1, Missing, "the whole log of the tenant is missing, and it is still named in %s", strings.Join(naming, ", "))
	}
}

// account reports missing texts that no event erased.
func (e *verifier) account() {
	for _, id := range slices.Sorted(maps.Keys(e.missing)) {
		e.fault(e.missing[id], Text, "the text is missing, and no event says that it was erased")
	}
}

// end reports what is missing at the end of the log. It uses what other tables know only if neither the tree nor a
// checkpoint shows that the log was cut. lost are the missing parts of the tree and of the checkpoints.
func (e *verifier) end(known positionQuery, lost []Fault) {
	cut := e.tree.size > e.last
	if cut {
		e.gone(e.last+1, e.tree.size)
	}
	for _, s := range e.signed {
		if _, ok := e.open(s); !ok {
			continue
		}
		switch {
		case s.size > e.last:
			cut = true
			e.fault(e.last+1, Missing, "the log was cut: %s signed that it has %d events, and it ends at position %d", s.signer,
				s.size, e.last)
		default:
			e.fault(s.size, Tree, "the stored tree was cut: %s signed that it has %d events, and it ends at position %d",
				s.signer, s.size, e.tree.size)
		}
	}
	if !cut && e.last > 0 && len(known.tables) > 0 {
		e.fault(e.last+1, Missing, "the log was cut: it ends at position %d, and %s knew position %d", e.last,
			strings.Join(known.tables, ", "), known.position)
	}
	if e.last > 0 {
		for _, fault := range lost {
			e.fault(fault.Position, fault.Kind, "%s", fault.Message)
		}
	}
	e.account()
	if e.tree.size > 0 {
		root := e.tree.root()
		e.tenant.Root = root[:]
	}
}
