// Package projectiontest gives every test of projections a world: a log with its projections on a database of its own,
// what people do there, and answers that are computed without an index to compare with.
package projectiontest
