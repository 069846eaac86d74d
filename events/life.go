package events

import "github.com/annals-kb/annals/domain"

type supersededData struct {
	By string `json:"by"`
}

func splitSuperseded(f domain.Superseded) (supersededData, reasonText) {
	return supersededData{By: f.By}, reasonText{Reason: f.Reason}
}

func joinSuperseded(d supersededData, t reasonText) domain.Superseded {
	return domain.Superseded{By: d.By, Reason: t.Reason}
}

func splitDeleted(f domain.Deleted) (nothing, reasonText)   { return nothing{}, reasonText(f) }
func joinDeleted(_ nothing, t reasonText) domain.Deleted    { return domain.Deleted(t) }
func splitRestored(f domain.Restored) (nothing, reasonText) { return nothing{}, reasonText(f) }
func joinRestored(_ nothing, t reasonText) domain.Restored  { return domain.Restored(t) }

type toData struct {
	To string `json:"to"`
}

func splitLinked(f domain.Linked) (toData, reasonText) {
	return toData{To: f.To}, reasonText{Reason: f.Reason}
}

func joinLinked(d toData, t reasonText) domain.Linked {
	return domain.Linked{To: d.To, Reason: t.Reason}
}

func splitUnlinked(f domain.Unlinked) toData { return toData(f) }
func joinUnlinked(d toData) domain.Unlinked  { return domain.Unlinked(d) }

// holdData refers to a legal case by its code and ticket; neither is what people wrote about the item.
type holdData struct {
	ReasonCode string `json:"reason_code"`
	Ticket     string `json:"ticket,omitempty"`
}

func splitHeld(f domain.Held) holdData         { return holdData(f) }
func joinHeld(d holdData) domain.Held          { return domain.Held(d) }
func splitReleased(f domain.Released) holdData { return holdData(f) }
func joinReleased(d holdData) domain.Released  { return domain.Released(d) }

type erasedData struct {
	ReasonCode  string   `json:"reason_code"`
	LegalBasis  string   `json:"legal_basis,omitempty"`
	RequestedBy string   `json:"requested_by,omitempty"`
	Ticket      string   `json:"ticket,omitempty"`
	Events      []string `json:"events"`
}

func splitErased(f domain.Erased) erasedData {
	if f.Events == nil {
		f.Events = []string{}
	}
	return erasedData(f)
}

func joinErased(d erasedData) domain.Erased { return domain.Erased(d) }
