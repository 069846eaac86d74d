// Package document extracts the text of files. Its one rule: the content of a file is never trusted. A library that a
// file can drive into endless work or memory runs in a child process, which can be killed. All other readers have
// limits.
package document
