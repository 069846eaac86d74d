// Command trace shows what one request executes: the functions of this module, in the order in which they call one
// another, and how many functions and files that is. Run it with make trace.
package main
