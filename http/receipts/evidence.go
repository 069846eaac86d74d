package receipts

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/http/api"
	"github.com/annals-kb/annals/http/serve"
	"github.com/annals-kb/annals/projections/receipts"
)

// Prover proves that the log was not changed.
type Prover interface {
	// Key is the public key that checkpoints are verified with.
	Key() string
	// Entry looks an event up, by its id or its position.
	Entry(ctx context.Context, tenant, eventID string) (domain.Entry, error)
	// Inclusion proves that the log of a checkpoint contains an event, with or without its text.
	Inclusion(ctx context.Context, tenant string, entry domain.Entry, text bool) (domain.Inclusion, error)
	// Endorse signs a text that is no checkpoint.
	Endorse(text string) (note string, err error)
}

// mostEvidence is how many receipts one file of evidence has at most.
const mostEvidence = 2000

// evidence answers with a zip of receipts, the events of their items, and what proves both.
func (s room) evidence(ctx context.Context, c *serve.Call, in *listInput) (*serve.Streamed, error) {
	if in.Cursor != "" || in.Limit != "" {
		c.Found.Add("limit", "is not for evidence, which has all receipts")
	}
	q, err := s.query(ctx, c, in)
	switch {
	case err != nil:
		return nil, err
	case !c.Principal.SeesAll():
		return nil, domain.Refuse(domain.ErrForbidden, "only auditors and admins ask for evidence")
	case s.Prover == nil:
		return nil, domain.Refuse(domain.ErrNotFound, "this server proves nothing")
	}
	of := bundle{room: s, call: c, tenant: q.Tenant, made: c.Now.UTC(), sums: map[string]string{}}
	of.filters = filtersOf(c.Request)
	if of.found, err = s.allOf(ctx, q); err != nil {
		return nil, err
	}
	return &serve.Streamed{Body: func(to huma.Context) {
		to.SetHeader("Content-Type", zipType)
		to.SetHeader("Content-Disposition", `attachment; filename="evidence.zip"`)
		to.SetStatus(http.StatusOK)
		// The context of an operation would end with the time limit; that of the request does not.
		if err := of.write(c.Request.Context(), c.Response); err != nil {
			c.Err = err
			panic(http.ErrAbortHandler) // half a file must not look whole
		}
	}}, nil
}

const zipType = "application/zip"

// filtersOf are the parameters of a request, as the page of evidence shows them.
func filtersOf(r *http.Request) map[string]string {
	filters := map[string]string{}
	for name, values := range r.URL.Query() {
		filters[name] = values[0]
	}
	return filters
}

// allOf are all receipts of a query, the oldest first.
func (s room) allOf(ctx context.Context, q receipts.Query) (all []receipts.Receipt, err error) {
	for q.Limit = mostEvidence; ; {
		page, err := s.Receipts.List(ctx, q)
		if err != nil {
			return nil, err
		}
		if all = append(all, page.Receipts...); len(all) > mostEvidence {
			var p domain.Problems
			p.Add("since", "selects more than %d receipts with the other filters: choose a shorter time", mostEvidence)
			return nil, p.Err()
		}
		if q.Before = page.Next; q.Before == "" {
			slices.Reverse(all)
			return all, nil
		}
	}
}

// bundle is a file of evidence while it is written.
type bundle struct {
	room

	call    *serve.Call
	tenant  string
	made    time.Time
	filters map[string]string
	found   []receipts.Receipt

	zip   *zip.Writer
	sums  map[string]string // SHA-256 of each file, in hexadecimal
	shown []api.ReceiptShown
}

// manifest lists what a file of evidence has. It is signed.
type manifest struct {
	Format   string            `json:"format"`
	Tenant   string            `json:"tenant"`
	MadeAt   time.Time         `json:"made_at"`
	MadeBy   domain.Entity     `json:"made_by"`
	Server   string            `json:"server"`
	Filters  map[string]string `json:"filters"`
	Receipts int               `json:"receipts"`
	Unsealed []string          `json:"unsealed"`
	Gaps     []string          `json:"gaps"`
	Files    map[string]string `json:"files"` // SHA-256, in hexadecimal
}

//go:embed evidence/verify.py
var verifier []byte

func (b *bundle) write(ctx context.Context, to io.Writer) error {
	b.zip = zip.NewWriter(to)
	m := manifest{
		Format: "annals evidence 1", Tenant: b.tenant, MadeAt: b.made, MadeBy: b.call.Principal.EffectiveSubject(),
		Server: b.call.API.Version, Filters: b.filters, Receipts: len(b.found), Unsealed: []string{}, Gaps: []string{},
		Files: b.sums,
	}
	positions, err := b.receipts(ctx, &m)
	if err == nil {
		err = b.events(ctx, positions)
	}
	if err != nil {
		return err
	}
	gaps, err := b.Receipts.Gaps(ctx, b.tenant)
	if err != nil {
		return err
	}
	for _, gap := range gaps {
		m.Gaps = append(m.Gaps, gap.String())
	}
	page, err := b.page(m)
	if err != nil {
		return err
	}
	for _, file := range []struct {
		name string
		data []byte
	}{
		{"index.html", page},
		{"controls.html", controlsPage()},
		{"verify.py", verifier},
		{"key.pub", []byte(b.Prover.Key() + "\n")},
	} {
		if err := b.add(file.name, file.data); err != nil {
			return err
		}
	}
	return b.sign(m)
}

// sign adds the manifest, and its signature.
func (b *bundle) sign(m manifest) error {
	encoded, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	sum := sha256.Sum256(encoded)
	note, err := b.Prover.Endorse(m.Format + "\n" + hex.EncodeToString(sum[:]) + "\n")
	if err == nil {
		err = errors.Join(b.put("manifest.json", encoded), b.put("manifest.sig", []byte(note)))
	}
	return errors.Join(err, b.zip.Close())
}

// add adds a file, and notes its hash.
func (b *bundle) add(name string, data []byte) error {
	sum := sha256.Sum256(data)
	b.sums[name] = hex.EncodeToString(sum[:])
	return b.put(name, data)
}

func (b *bundle) put(name string, data []byte) error {
	_ = http.NewResponseController(b.call.Response).SetWriteDeadline(time.Now().Add(b.call.API.Timeout))
	if err := b.call.API.MayGoOn(b.call); err != nil {
		return err
	}
	file, err := b.zip.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate, Modified: b.made})
	if err == nil {
		_, err = file.Write(data)
	}
	if err != nil {
		return fmt.Errorf("send evidence: %w: %w", context.Canceled, err)
	}
	return nil
}

// sealing is the proof of a receipt as a file.
type sealing struct {
	Question *asked            `json:"question,omitempty"`
	Seal     *api.ReceiptProof `json:"seal,omitempty"`
}

// asked is a question with what its digest was salted with.
type asked struct {
	Salt string `json:"salt"`
	Text string `json:"text"`
}

// receipts adds the receipts and their proofs. It returns the positions of the events that they need.
func (b *bundle) receipts(ctx context.Context, m *manifest) (map[int64]bool, error) {
	all, err := b.items(ctx, b.call, b.found...)
	if err != nil {
		return nil, err
	}
	positions, known := map[int64]bool{}, map[string]bool{}
	var tree *receipts.SealedTree
	treeOf := int64(0)
	for _, one := range b.found {
		replayed, err := b.Receipts.Show(ctx, b.call.Principal, one.ID())
		if errors.Is(err, domain.ErrNotFound) {
			continue // it has expired meanwhile
		}
		if err != nil {
			return nil, err
		}
		shown, proof := shownOf(replayed, all), sealing{}
		if q := replayed.Question; q.Salt != nil {
			proof.Question = &asked{hex.EncodeToString(q.Salt), q.Text}
		}
		if one.Sealed == 0 {
			m.Unsealed = append(m.Unsealed, one.ID())
		} else if positions[one.Sealed] = true; treeOf != one.Sealed {
			treeOf = one.Sealed
			if tree, err = b.Receipts.Tree(ctx, one); err != nil && !errors.Is(err, domain.ErrNotFound) {
				return nil, err
			}
		}
		if one.Sealed != 0 && tree != nil {
			proven, err := tree.Prove(one)
			if err != nil && !errors.Is(err, receipts.ErrUnproven) {
				return nil, err
			}
			proof.Seal = new(proofOf(one, proven)) // of a changed receipt the verifier says so
		}
		encoded, err := json.Marshal(proof)
		if err != nil {
			return nil, err
		}
		err = errors.Join(b.add("receipts/"+one.ID()+".json", shown.Answer), b.add("proofs/"+one.ID()+".json", encoded))
		if err != nil {
			return nil, err
		}
		b.shown = append(b.shown, shown)
		for _, item := range replayed.Given {
			if item.ID == "" || known[item.ID] {
				continue
			}
			known[item.ID] = true
			records, err := b.Receipts.Records(ctx, b.tenant, item.ID)
			if err != nil {
				return nil, err
			}
			for _, record := range records {
				positions[record.Position] = true
			}
		}
	}
	return positions, nil
}

// events adds events with their texts and proofs, as annals verify reads them.
func (b *bundle) events(ctx context.Context, positions map[int64]bool) error {
	for _, position := range slices.Sorted(maps.Keys(positions)) {
		entry, err := b.Prover.Entry(ctx, b.tenant, strconv.FormatInt(position, 10))
		if err != nil {
			return err
		}
		made, err := b.Prover.Inclusion(ctx, b.tenant, entry, true)
		if err != nil {
			return err
		}
		var encoded bytes.Buffer
		serve.WriteJSON(&encoded, serve.InclusionOf(made))
		if err := b.add(fmt.Sprintf("events/%08d.json", position), encoded.Bytes()); err != nil {
			return err
		}
	}
	return nil
}
