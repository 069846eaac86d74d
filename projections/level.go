package projections

import (
	"cmp"

	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/text"
)

// applyLevel puts the text of the level that a search asks for in the place of an item's content. What its author
// left out of an abstract and an overview follows from the content.
func applyLevel(k *domain.Knowledge, level *domain.Level) {
	if level == nil {
		return
	}
	switch written := &k.Text; *level {
	case domain.Abstract:
		if written.Abstract == "" && text.Tokens(written.Content) > text.AbstractTokens {
			written.Abstract = text.Abstract(written.Content, text.AbstractTokens)
		}
	case domain.Overview:
		written.Overview = cmp.Or(written.Overview, text.Overview(written.Content, text.OverviewTokens))
	}
	level.Trim(k)
}
