// Package body reads the bodies of requests strictly, and names every bad field of one at once.
package body
