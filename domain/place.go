package domain

import (
	"strconv"
	"strings"
)

// mayUseURI refuses URIs in the space of somebody that the caller neither is nor acts for. Nobody else
// learns from a conflict what lies there, and nobody occupies another's places.
func mayUseURI(by Principal, uri string) error {
	if space := URI(uri).Space(); space != "" && !by.MayPublish(space.Scope()) {
		return Refuse(ErrForbidden, "the uri lies in a space that is not %s's", by.EffectiveSubject()).
			WithFix("leave the uri out, or name one in your own space or in one that is everybody's, such as viking://resources/")
	}
	return nil
}

// freeURIBeside is the place next to one that is taken: it follows from the rest of the item and not from its
// author, who is to learn nothing of who was there before. No id contains the character that sets it apart.
func freeURIBeside(dc ItemReader, uri string) string {
	stem := strings.TrimSuffix(uri, ".md")
	for n := 2; ; n++ {
		if other := stem + "@" + strconv.Itoa(n) + ".md"; dc.Holder(other) == "" {
			return other
		}
	}
}
