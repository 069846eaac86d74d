// Package body reads the bodies of requests, strictly or leniently, and names every bad field of one at once.
package body
