// Command budget prints the lines of each room, and fails where a type has too many methods or a page too long sentences.
// Run it with make check.
package main
