package proof

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
)

// largestManifest bounds the last line of an export.
const largestManifest = 8 << 20

// VerifyFile verifies an export with only the file and the keys. The report contains what is wrong; the error says
// that the file could not be verified.
func VerifyFile(ctx context.Context, path string, v Verification) (*Report, error) {
	began := time.Now()
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // it was only read
	report := &Report{Tenants: []*Tenant{}, Faults: []Fault{}}
	x := &fileVerifier{Verification: v, report: report}
	m, err := readManifest(file)
	if err != nil {
		report.fault("", 0, Export, "%s", err)
		report.BreaksOff = errors.Is(err, errBreaksOff)
		report.finish(v, began)
		return report, nil
	}
	if x.verifier, err = v.verifierOf(report, m.Tenant); err != nil {
		return nil, err
	}
	x.begin(m)
	if err := x.hold(); err != nil {
		return nil, err
	}
	err = examine(ctx, func(_ context.Context, emit func(*chunk) error) error { return x.read(file, emit) },
		func(c *chunk) error {
			for i := range c.records {
				x.take(c, &c.records[i])
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("verify %s: %w", path, err)
	}
	x.end()
	report.finish(v, began)
	return report, nil
}

// errBreaksOff says that the end of an export is missing.
var errBreaksOff = errors.New("the file breaks off")

// readManifest reads the last line of an export.
func readManifest(file *os.File) (*manifest, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	tail := make([]byte, min(info.Size(), largestManifest))
	if _, err := file.ReadAt(tail, info.Size()-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if len(tail) == 0 || tail[len(tail)-1] != '\n' {
		return nil, fmt.Errorf("%w: its last line is not whole; export it again", errBreaksOff)
	}
	tail = tail[:len(tail)-1]
	l, err := parseLine(tail[bytes.LastIndexByte(tail, '\n')+1:])
	if err != nil || l.Manifest == nil {
		return nil, fmt.Errorf("%w: its last line is no manifest; export it again with annals export log", errBreaksOff)
	}
	if l.Manifest.Format != exportFormat {
		return nil, fmt.Errorf("its format is not %q: another version of annals wrote it", exportFormat)
	}
	return l.Manifest, nil
}

// fileVerifier is the verification of an export.
type fileVerifier struct {
	Verification
	*verifier
	report   *Report
	manifest *manifest
	apart    bool // the records are not consecutive, so there is no tree over them
}

// begin starts the tree at the beginning of the export.
func (x *fileVerifier) begin(m *manifest) {
	x.manifest = m
	x.whole, x.noTexts = m.After == 0, !m.Texts
	x.last, x.tenant.From, x.tenant.Through = m.After, m.After+1, m.After
	if x.noTexts {
		x.report.Unchecked = append(x.report.Unchecked, "texts: they were left out of the export")
	}
	x.tree = frontier{size: m.After, roots: m.Before}
	if m.After < 0 || len(m.Before) != len(indexesOf(max(0, m.After))) {
		x.apart = true
		x.fault(m.After, Export, "the manifest does not say what the tree was before the first event")
	}
	for _, text := range m.Earlier {
		body, _, _ := strings.Cut(text, "\n\n")
		c, err := parse(body + "\n")
		if err != nil || c.Size <= m.After || c.Size >= m.Through || len(x.signed) > 0 &&
			c.Size < x.signed[len(x.signed)-1].size {
			x.fault(m.Through, Export, "an earlier checkpoint of the manifest cannot be read, or is out of place")
			continue
		}
		x.signed = append(x.signed, signed{size: c.Size, signer: c.Origin, note: text})
	}
	if !x.whole {
		x.report.Unchecked = append(x.report.Unchecked,
			fmt.Sprintf("what came before position %d: it is not in the export", m.After+1))
	}
}

// read splits the file into chunks of lines, except the last one.
func (x *fileVerifier) read(file *os.File, emit func(*chunk) error) error {
	if _, err := file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(file, 1<<20)
	c := &chunk{first: 1}
	for number, done := int64(1), int64(0); ; number++ {
		text, err := lines.ReadBytes('\n')
		done += int64(len(text))
		switch {
		case errors.Is(err, io.EOF) || err == nil && done == info.Size(): // the manifest, or nothing
			return emit(c)
		case err != nil:
			return err
		}
		c.lines = append(c.lines, text)
		if len(c.lines) == chunkRecords {
			if err := emit(c); err != nil {
				return err
			}
			c = &chunk{first: number + 1}
			if x.Progress != nil {
				x.Progress(number, max(number, x.manifest.Count))
			}
		}
	}
}

// parse reads the lines of a chunk. Chunks are parsed concurrently.
func (c *chunk) parse() {
	var s stored
	for i, text := range c.lines {
		l, err := parseLine(text)
		switch {
		case err == nil && l.Manifest != nil:
			err = errors.New("it is a manifest, and not the last line")
		case err == nil:
			err = l.stored(&s)
		}
		if err != nil {
			fault := fmt.Sprintf("line %d cannot be read: %s", c.first+int64(i), err)
			c.records = append(c.records, record{kind: Export, fault: fault})
			continue
		}
		c.add(&s)
	}
	c.lines = nil
}

// take processes the next record.
func (x *fileVerifier) take(c *chunk, r *record) {
	if r.kind == Export {
		x.apart = true
		x.fault(x.last+1, Export, "%s", r.fault)
		return
	}
	x.tenant.Events++
	switch want := x.last + 1; {
	case r.position > want:
		x.apart = true
		x.gone(want, r.position-1)
	case r.position < want:
		x.apart = true
		x.fault(r.position, Order, "it comes after position %d", x.last)
	}
	x.last = r.position
	x.tenant.Through = max(x.tenant.Through, r.position)
	leaf := r.computed
	if r.kind == Hash {
		leaf = tlog.Hash{}
		copy(leaf[:], c.of(r.hash)) // so that the following records can be checked independently
	}
	if !x.apart {
		x.grow(r, leaf)
		x.compareSigned()
	}
	if r.fault != "" {
		x.fault(r.position, r.kind, "%s", r.fault)
	}
	if r.kind == Hash { // its fields cannot be trusted
		x.doubtful++
		return
	}
	x.ascends(c, r)
	x.texts(c, r)
}

// grow adds a leaf to the tree. If a record and its hash differ, a second tree has the computed hash.
func (x *fileVerifier) grow(r *record, leaf tlog.Hash) {
	if r.kind == Hash && x.other == nil {
		x.other = &frontier{size: x.tree.size, roots: slices.Clone(x.tree.roots)}
	}
	x.tree.add(tlog.RecordHash(leaf[:]), nil)
	if x.other != nil {
		x.other.add(tlog.RecordHash(r.computed[:]), nil)
	}
}

// end compares the file with its manifest, and the manifest with what was signed.
func (x *fileVerifier) end() {
	m, t := x.manifest, x.tenant
	if t.Events != m.Count || x.last != m.Through {
		x.apart = true
		x.fault(x.last, Export,
			"the manifest says that it holds %d events up to position %d, and it holds %d up to position %d", m.Count,
			m.Through, t.Events, x.last)
	}
	x.cut()
	if m.Through == 0 {
		return
	}
	c, ok := x.open(signed{size: m.Through, note: m.Checkpoint, signer: theCheckpoint})
	x.signedBy(c, ok)
	if n := len(x.missing); n > 0 && m.Through < m.Head {
		x.report.Unchecked = append(x.report.Unchecked,
			fmt.Sprintf("%d missing texts: an event after position %d may say that they were erased", n, m.Through))
	} else {
		x.account()
	}
}

func (x *fileVerifier) signedBy(c domain.Checkpoint, ok bool) {
	m := x.manifest
	if !ok || x.apart {
		return
	}
	if c.Size == m.Through {
		x.hasRoot(c.Root)
	}
	root := x.tree.root()
	switch {
	case c.Size == m.Through && c.Root == domain.Digest(root):
	case c.Size > m.Through && tlog.CheckTree(m.Consistency, c.Size, tlog.Hash(c.Root), m.Through, root) == nil:
	default:
		x.fault(m.Through, Checkpoint, "the events at the positions %d to %d are not those that were signed",
			max(x.agreed, m.After)+1, m.Through)
		return
	}
	if root != m.Root {
		x.fault(m.Through, Export, "the manifest names another root")
	}
	x.tenant.Checkpoints++
	x.tenant.Signed, x.tenant.Root = m.Through, root[:]
}
