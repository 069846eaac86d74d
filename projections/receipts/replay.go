package receipts

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/annals-kb/annals/domain"
)

// Replayed is an answer as it was given.
type Replayed struct {
	Receipt
	Given  []GivenItem // in the order of the answer
	Faults []string    // how it differs from what was recorded; none if it does not
}

// GivenItem is an item of an answer in its wording of then.
type GivenItem struct {
	Item
	ID          string
	Digest      string            // of its stream up to the version, in hexadecimal
	Knowledge   *domain.Knowledge // as of the version, with the content of the level; nil if it is erased or hidden
	Erased      bool              // its wording was destroyed
	Certificate string            // the event that destroyed its wording, or took something out of it; empty for none
	Hidden      bool              // the reader may not see it
	Fault       string            // how it differs from what was recorded; empty if it does not
}

// Replay shows an answer again, from the log, whoever asks: see [Receipts.Show].
func (r *Receipts) Replay(ctx context.Context, receipt Receipt) (Replayed, error) {
	replayed := Replayed{Receipt: receipt, Given: make([]GivenItem, len(receipt.Items))}
	whole := map[Item]history{}
	for i, item := range receipt.Items {
		s, err := r.stream(ctx, receipt.Tenant, item.Number, item.Version)
		if err != nil {
			return replayed, err
		}
		digest := s.digest(item.Version)
		whole[item] = digest
		given := GivenItem{Item: item, ID: s.id, Digest: hex.EncodeToString(digest[:]), Fault: s.faultOf(item)}
		if s.id != "" {
			k, certificate, erased, err := r.knowledge(ctx, receipt.Tenant, &s, item.Version)
			switch {
			case err != nil && given.Fault == "":
				return replayed, err
			case err != nil: // as the fault says
			case erased && certificate == "":
				given.Fault = "its text is missing, and no event says that it was erased"
			}
			if given.Erased, given.Certificate = erased, certificate; err == nil && !erased {
				item.Level.Trim(k)
				given.Knowledge = k
			}
		}
		if given.Fault != "" {
			replayed.Faults = append(replayed.Faults, fmt.Sprintf("item %d: %s", i+1, given.Fault))
		}
		replayed.Given[i] = given
	}
	if !receipt.asked() {
		replayed.Faults = append(replayed.Faults, "the question is not the one that was asked")
	}
	if receipt.digest(func(item Item) history { return whole[item] }) != receipt.Answer {
		replayed.Faults = append(replayed.Faults, "the answer is not the one that was given")
	}
	return replayed, nil
}

// asked tells whether the question is the one that was asked, as far as it was not erased.
func (r *Receipt) asked() bool {
	return r.Question.Salt == nil || r.Question.digest() == r.Question.Digest
}

// Hide takes out the items that a reader may not see. Their digests stay.
func (a *Replayed) Hide(sees func(id string) bool) {
	for i := range a.Given {
		if item := &a.Given[i]; !sees(item.ID) {
			item.ID, item.Knowledge, item.Certificate, item.Hidden = "", nil, "", true
		}
	}
}

// only keeps the items that a reader has the receipt of.
func (a *Replayed) only(items []Item) {
	has := func(number int64) bool {
		return slices.ContainsFunc(items, func(item Item) bool { return item.Number == number })
	}
	a.Items = items
	a.Given = slices.DeleteFunc(a.Given, func(item GivenItem) bool { return !has(item.Number) })
}

// Canonical is the answer in its canonical form, with the wordings.
func (a *Replayed) Canonical() json.RawMessage {
	form := a.form()
	for i, item := range a.Given {
		to := &form.Items[i]
		to.ID, to.History, to.Certificate, to.Hidden = item.ID, item.Digest, item.Certificate, item.Hidden
		if k := item.Knowledge; k != nil {
			to.Wording = &wordingForm{
				Type: k.Type, Task: k.Text.Task, Content: k.Text.Content, Tags: k.Text.Tags, Source: k.Source, Owner: k.Owner,
				Scopes: k.Scopes, URI: k.Text.URI,
			}
		}
	}
	return form.bytes()
}
