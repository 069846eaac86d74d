// Package logtest is the test suite for the promises of package events, for every inline projection and database.
package logtest
