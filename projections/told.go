package projections

import (
	"cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// tell puts the text of the level that a search asks for in the place of an item's content. What its author
// left out of an abstract and an overview follows from the content.
func tell(k *domain.Knowledge, level *domain.Level) {
	if level == nil {
		return
	}
	switch written := &k.Text; *level {
	case domain.Abstract:
		written.Abstract = cmp.Or(written.Abstract, text.Brief(written.Content))
	case domain.Overview:
		written.Overview = cmp.Or(written.Overview, text.Overview(written.Content, text.OverviewTokens))
	}
	level.Trim(k)
}
