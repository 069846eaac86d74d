// Package scrub replaces secrets and personal data in texts. Its one rule: scrubbing a scrubbed text changes nothing.
package scrub
