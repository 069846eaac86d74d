package domain

import (
	"slices"
	"strings"
)

// Trust says who brought the text of an item: the class of its source. An item is never more trusted than what it came
// from.
type Trust string

// The classes, the most trusted first.
const (
	FromPerson        Trust = "person"
	FromPersonalAgent Trust = "personal_agent" // an agent on behalf of a user, or an agent's session with a user's key
	FromAgent         Trust = "agent"
	FromImport        Trust = "import"
	FromOutside       Trust = "outside" // resources, documents, and what names a URL
)

// Trusts lists all classes in this order.
var Trusts = []Trust{FromPerson, FromPersonalAgent, FromAgent, FromImport, FromOutside}

// LeastTrusted is the least trusted of some classes. Empty ones, which are unknown, do not count.
func LeastTrusted(of ...Trust) (least Trust) {
	for _, t := range of {
		if least == "" || slices.Index(Trusts, t) > slices.Index(Trusts, least) {
			least = t
		}
	}
	return least
}

// Trust is the class of what the principal writes. The server itself has none: what it derives from an item is as
// trusted as the item.
func (p Principal) Trust() Trust {
	system := SystemPrincipal()
	switch {
	case p.Subject == system.Subject && p.Authentication == system.Authentication && p.OnBehalfOf == "":
		return ""
	case p.OnBehalfOf.Kind() == User && p.Subject.Kind() != User, p.EffectiveSubject().Kind() == User && p.InSession:
		return FromPersonalAgent
	case p.EffectiveSubject().Kind() == User:
		return FromPerson
	}
	return FromAgent
}

// outsideCategories are the categories of sources whose text others wrote.
var outsideCategories = []string{"paper", "book", "web", "url", "document"}

// trust is what the kind and the source of a new item tell; empty if they tell nothing.
func (r Remembered) trust() Trust {
	if r.ContextType == Resource || len(r.Source.URLs) > 0 || strings.HasPrefix(r.Text.URI, resourcesURI) ||
		slices.Contains(outsideCategories, strings.ToLower(r.Source.Category)) {
		return FromOutside
	}
	return r.Source.Trust
}

const resourcesURI = string(RootURI) + "resources/"

// Trust is the class of the item's source. For an item of an earlier release, which has none, what is known of it tells
// the class.
func (k *Knowledge) Trust() Trust {
	if k.Source.Trust != "" {
		return k.Source.Trust
	}
	outside := Remembered{Class: k.Class, Source: k.Source, Text: k.Text}.trust()
	switch {
	case outside != "":
		return outside
	case k.Owner.Kind() == Agent:
		return FromAgent
	case k.Source.AgentID != "":
		return FromPersonalAgent
	}
	return FromPerson
}

// lowered is the class of the item with something of these classes in it; empty if it stays.
func (k *Knowledge) lowered(by ...Trust) Trust {
	if least := LeastTrusted(append(by, k.Trust())...); least != k.Trust() {
		return least
	}
	return ""
}

func (k *Knowledge) lower(to Trust) {
	if to != "" {
		k.Source.Trust = to
	}
}
