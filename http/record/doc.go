// Package record registers the operations on the log: events, histories, moments and protections.
package record
