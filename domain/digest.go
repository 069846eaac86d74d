package domain

import (
	"slices"
	"strings"
	"time"
)

// The sections of a digest.
const (
	DigestNew        = "new"
	DigestChanged    = "changed"
	DigestDoubted    = "doubted"
	DigestSuperseded = "superseded"
	DigestDeleted    = "deleted"
	DigestHelpful    = "helpful"
)

// digestSections are the sections of events, by the words of [SubscribedEvents].
var digestSections = map[string]string{
	"remembered": DigestNew, "revised": DigestChanged, "stale": DigestDoubted, "harmful": DigestDoubted,
	"merged": DigestChanged, "restored": DigestChanged, "superseded": DigestSuperseded, "deleted": DigestDeleted,
	"helpful": DigestHelpful,
}

// DigestedNames are the names of the facts that a digest counts.
func DigestedNames() (names []string) {
	for word := range digestSections {
		names = append(names, SubscribedEvents[word]...)
	}
	slices.Sort(names)
	return names
}

// DigestSectionOf is the section of a digest that counts a fact.
func DigestSectionOf(name string) string {
	for word, section := range digestSections {
		if slices.Contains(SubscribedEvents[word], name) {
			return section
		}
	}
	return ""
}

// MostDigested limits the items of a section.
const MostDigested = 20

// DigestQuery asks what happened in a scope at or after From, and before To.
type DigestQuery struct {
	By       Principal
	Scope    Scope
	From, To time.Time
}

// ScopeDigest sums up what happened in a scope.
type ScopeDigest struct {
	Events   int
	More     bool // there are more events than were counted
	Sections map[string]DigestSection
}

// DigestSection are items of a digest: those with the most events first, then those with the newest one.
type DigestSection struct {
	Total int
	Items []DigestItem
}

// DigestItem is an item in a section of a digest.
type DigestItem struct {
	ID       string
	Title    string
	Who      Entity // who did the newest, or who remembered it; empty if the caller may not read that
	Count    int
	Last     time.Time
	Position int64  // of the newest event
	By       string // the item that superseded it
}

// TitleOf is the task of an item, or the beginning of its content, on one line.
func TitleOf(k *Knowledge) string {
	const most = 100
	title := k.Text.Task
	if title == "" {
		title, _, _ = strings.Cut(strings.TrimSpace(k.Text.Content), "\n")
	}
	letters := []rune(strings.Join(strings.Fields(title), " "))
	if len(letters) > most {
		return string(letters[:most-1]) + "…"
	}
	return string(letters)
}
