// Package serve has what all operations of the API share: how they are registered, read a request and answer it. The
// packages beside it register operations; each takes only what it needs.
package serve
