// Package keys identifies callers, and registers the operations on keys and tenants.
package keys
