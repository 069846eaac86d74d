package events

import "github.com/annals-kb/annals/domain"

type rescopedData struct {
	Scopes []domain.Scope `json:"scopes"`
}

func splitRescoped(f domain.Rescoped) (rescopedData, reasonText) {
	return rescopedData{Scopes: f.Scopes}, reasonText{Reason: f.Reason}
}

func joinRescoped(d rescopedData, t reasonText) domain.Rescoped {
	return domain.Rescoped{Scopes: d.Scopes, Reason: t.Reason}
}

type transferredData struct {
	Owner domain.Entity `json:"owner"`
}

func splitTransferred(f domain.Transferred) (transferredData, reasonText) {
	return transferredData{Owner: f.Owner}, reasonText{Reason: f.Reason}
}

func joinTransferred(d transferredData, t reasonText) domain.Transferred {
	return domain.Transferred{Owner: d.Owner, Reason: t.Reason}
}

type movedText struct {
	URI    string `json:"uri,omitempty"`
	Reason string `json:"reason,omitempty"`
}

func splitMoved(f domain.Moved) (nothing, movedText) { return nothing{}, movedText(f) }
func joinMoved(_ nothing, t movedText) domain.Moved  { return domain.Moved(t) }
