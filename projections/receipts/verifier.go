package receipts

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events"
)

// verifier is a verification under way.
type verifier struct {
	*Receipts
	of      Verification
	streams map[int64]itemStream // of items, without their records
	report  Report
}

func (v *verifier) fault(receipt, kind, detail string, args ...any) {
	v.report.Faults = append(v.report.Faults, Fault{receipt, kind, fmt.Sprintf(detail, args...)})
}

// runs are the runs that gave receipts to the tenant, or whose receipts were sealed.
func (v *verifier) runs(ctx context.Context) (runs []int64, err error) {
	err = v.db.NewRaw("SELECT DISTINCT run FROM receipt_pages WHERE tenant = ?", v.of.Tenant).Scan(ctx, &runs)
	if err != nil {
		return nil, failed(ctx, err)
	}
	var streams []string
	err = v.db.NewRaw("SELECT DISTINCT stream FROM events WHERE tenant = ? AND version = 1 AND "+
		events.OfKind("stream", domain.ReceiptStreams), v.of.Tenant).Scan(ctx, &streams)
	if err != nil {
		return nil, failed(ctx, err)
	}
	for _, stream := range streams {
		if run, err := strconv.ParseInt(domain.ReceiptStreams.ID(stream), 10, 64); err == nil {
			runs = append(runs, run)
		}
	}
	slices.Sort(runs)
	return slices.Compact(runs), nil
}

// seal is a seal in the log.
type seal struct {
	domain.ReceiptsSealed
	position int64
	at       time.Time
}

// run verifies the receipts of a run, seal by seal, and then those that are not sealed yet.
func (v *verifier) run(ctx context.Context, run int64) error {
	seals, err := v.sealsOf(ctx, run)
	if err != nil {
		return err
	}
	last := int64(0)
	for _, s := range seals {
		pages, err := v.pagesOf(ctx, run, "p.last >= ? AND p.first <= ?", s.First, s.Last)
		if err != nil {
			return err
		}
		if err := v.sealed(ctx, run, s, pages); err != nil {
			return err
		}
		last = s.Last
	}
	pages, err := v.pagesOf(ctx, run, "p.first > ?", last)
	if err != nil {
		return err
	}
	for i := range pages {
		if p := &pages[i]; p.Sealed != 0 {
			v.fault(idOf(run, p.First), Unsealed, "the log does not have the event at position %d that sealed it", p.Sealed)
		}
		if _, err := v.page(ctx, &pages[i], last+1, 0); err != nil && !errors.Is(err, errPage) {
			return err
		}
	}
	return nil
}

// sealsOf are the seals of a run. One that was changed is a fault.
func (v *verifier) sealsOf(ctx context.Context, run int64) (seals []seal, err error) {
	records, err := v.log.Reader.StreamRecords(ctx, v.of.Tenant, domain.ReceiptStreams.Of(strconv.FormatInt(run, 10)),
		1<<62)
	if err != nil {
		return nil, err
	}
	next := int64(1)
	for i, record := range records {
		event, err := record.Event()
		if err != nil {
			return nil, err
		}
		of, is := event.Fact.(domain.ReceiptsSealed)
		switch fault := record.Fault(); {
		case !is:
			continue
		case fault != "":
			v.fault(idOf(run, of.First), Unsealed, "the seal at position %d was changed: %s", record.Position, fault)
		case record.Version != int64(i)+1 || of.First != next:
			v.fault(idOf(run, next), Unsealed, "a seal is missing before position %d", record.Position)
		}
		seals, next = append(seals, seal{of, record.Position, event.RecordedAt}), of.Last+1
	}
	return seals, nil
}

// pagesOf are the pages of a run that fulfil a condition, and that lie within the time.
func (v *verifier) pagesOf(ctx context.Context, run int64, condition string, args ...any) (pages []page, err error) {
	err = v.db.NewSelect().Model(&pages).Where("p.tenant = ?", v.of.Tenant).Where("p.run = ?", run).
		Where(condition, args...).OrderExpr("p.first").Scan(ctx)
	if err != nil {
		return nil, failed(ctx, err)
	}
	return pages, nil
}

// sealed compares the pages of a seal with it.
func (v *verifier) sealed(ctx context.Context, run int64, s seal, pages []page) error {
	if !v.of.Since.IsZero() && s.at.Before(v.of.Since) || !v.of.Until.IsZero() && !s.at.Before(v.of.Until.Add(time.Hour)) {
		return nil
	}
	if len(pages) == 0 && s.at.Add(-sealedAfter).Before(v.expired(v.of.Tenant)) {
		v.report.Expired += s.Count
		return nil
	}
	found, damaged := map[int64]*Receipt{}, false
	for i := range pages {
		p := &pages[i]
		if p.Sealed != s.position {
			v.fault(idOf(run, p.First), Unsealed, "it is sealed at position %d, and its page says %d", s.position, p.Sealed)
		}
		all, err := v.page(ctx, p, s.First, s.Last)
		if errors.Is(err, errPage) {
			damaged = true
			continue
		}
		if err != nil {
			return err
		}
		for _, one := range all {
			if found[one.Sequence] != nil {
				v.fault(one.ID(), Added, "it is there twice")
				continue
			}
			found[one.Sequence] = one
		}
	}
	if !damaged {
		v.compare(run, s, found)
	}
	return nil
}

// compare compares receipts with their seal, one by one by the marks of their leaves, and all by the root.
func (v *verifier) compare(run int64, s seal, found map[int64]*Receipt) {
	before, mark := len(v.report.Faults), 0
	lost := lostOf(s.Lost)
	leaves := make([]tlog.Hash, 0, len(found))
	for sequence := s.First; sequence <= s.Last; sequence++ {
		r := found[sequence]
		if lost(sequence) {
			if r != nil {
				v.fault(r.ID(), Added, "it was not there when its minute was sealed")
			}
			continue
		}
		var sealed []byte
		if (mark+1)*domain.SealMark <= len(s.Marks) {
			sealed = s.Marks[mark*domain.SealMark:][:domain.SealMark]
		}
		mark++
		if r == nil {
			v.fault(idOf(run, sequence), Missing, "it was sealed at position %d, and is gone", s.position)
			continue
		}
		v.report.Sealed++
		leaf := r.leaf()
		if leaves = append(leaves, leaf); !bytes.Equal(leaf[:domain.SealMark], sealed) {
			v.fault(r.ID(), Changed, "it is not as it was sealed at position %d", s.position)
		}
	}
	if root, err := rootOf(leaves); err == nil && !bytes.Equal(root[:], s.Root) && len(v.report.Faults) == before {
		v.fault(idOf(run, s.First), Changed, "one of the receipts up to %s is not as it was sealed at position %d",
			idOf(run, s.Last), s.position)
	}
}

// lostOf tells which numbers were lost before a seal.
func lostOf(ranges []string) func(sequence int64) bool {
	spans := make([]span, len(ranges))
	for i, text := range ranges {
		first, last, several := strings.Cut(text, "-")
		if !several {
			last = first
		}
		spans[i].first, _ = strconv.ParseInt(first, 10, 64)
		spans[i].last, _ = strconv.ParseInt(last, 10, 64)
	}
	return func(sequence int64) bool {
		return slices.ContainsFunc(spans, func(s span) bool { return s.first <= sequence && sequence <= s.last })
	}
}

// page reads a page and verifies it by itself, and its receipts by the log.
func (v *verifier) page(ctx context.Context, p *page, first, last int64) ([]*Receipt, error) {
	name := idOf(p.Run, p.First)
	all, err := p.receipts()
	if err == nil && len(all) == 0 {
		err = errPage
	}
	if err != nil {
		v.fault(name, Damaged, "%s", err)
		return nil, errPage
	}
	if again := pageOf(all); p.First != again.First || p.Last != again.Last || p.Receipts != again.Receipts ||
		!p.From.Equal(again.From.Time) || !p.To.Equal(again.To.Time) || !bytes.Equal(p.Keys, again.Keys) {
		v.fault(name, Indexed, "the page up to %s does not say what its receipts are about", idOf(p.Run, p.Last))
	}
	before := all[0]
	for _, one := range all {
		v.report.Receipts++
		if one.Sequence < first || last > 0 && one.Sequence > last {
			v.fault(one.ID(), Added, "its page is not of its minute")
		}
		if one.At.Before(before.At) || one != all[0] && one.Sequence <= before.Sequence {
			v.fault(one.ID(), Changed, "it is not in the order of the receipts")
		}
		before = one
		if err := v.receipt(ctx, one); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// receipt compares a receipt with the log.
func (v *verifier) receipt(ctx context.Context, one *Receipt) error {
	whole, before := map[Item]history{}, len(v.report.Faults)
	for i, item := range one.Items {
		s, err := v.itemStream(ctx, item)
		if err != nil {
			return err
		}
		whole[item] = s.digest(item.Version)
		if fault := s.faultOf(item); fault != "" {
			v.fault(one.ID(), Answered, "item %d, %s: %s", i+1, s.id, fault)
		}
	}
	if len(v.report.Faults) == before && one.digest(func(item Item) history { return whole[item] }) != one.Answer {
		v.fault(one.ID(), Answered, "the answer is not the one that was given")
	}
	if !one.asked() {
		v.fault(one.ID(), Asked, "the question is not the one that was asked")
	}
	return nil
}

// mostStreams limits the streams that a verification keeps in memory.
const mostStreams = 20_000

// itemStream is the stream of an item, which is read once.
func (v *verifier) itemStream(ctx context.Context, item Item) (itemStream, error) {
	s, known := v.streams[item.Number]
	if known {
		return s, nil
	}
	s, err := v.stream(ctx, v.of.Tenant, item.Number, 1<<62)
	if err != nil {
		return s, err
	}
	if len(v.streams) >= mostStreams {
		clear(v.streams)
	}
	s.records = nil
	v.streams[item.Number] = s
	return s, nil
}
