// Package scrub replaces secrets and personal data in texts. Its one rule: scrubbing what is scrubbed changes nothing.
package scrub
