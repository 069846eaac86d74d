// Command budget prints the lines of each room. It fails if a type has too many methods, or a page has sentences that
// are too long. Run it with make check.
package main
