// Package people registers the operations on the members of a tenant and their groups.
package people
