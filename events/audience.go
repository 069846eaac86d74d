package events

import "github.com/annals-kb/annals/domain"

type rescopedData struct {
	Scopes []domain.Scope `json:"scopes"`
}

func splitRescoped(f domain.Rescoped) rescopedData { return rescopedData(f) }
func joinRescoped(d rescopedData) domain.Rescoped  { return domain.Rescoped(d) }

type transferredData struct {
	Owner domain.Entity `json:"owner"`
}

func splitTransferred(f domain.Transferred) transferredData { return transferredData(f) }
func joinTransferred(d transferredData) domain.Transferred  { return domain.Transferred(d) }

type movedText struct {
	URI string `json:"uri,omitempty"`
}

func splitMoved(f domain.Moved) (nothing, movedText) { return nothing{}, movedText(f) }
func joinMoved(_ nothing, t movedText) domain.Moved  { return domain.Moved(t) }
