// Package visible finds what callers may see: items and events.
package visible
