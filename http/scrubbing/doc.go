// Package scrubbing registers the operations on what is redacted in what people write.
package scrubbing
