// Command trace prints the functions of this module that one request executes, in calling order, with the number of
// functions and files. Run it with make trace.
package main
