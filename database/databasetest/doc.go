// Package databasetest gives every test a database of its own, on both engines.
package databasetest
