// Package rows has what all projections share: the rows and columns of the tables of knowledge, filters as SQL,
// look-ups by key, scripts of statements and table definitions.
//
// Its one rule: it works on one version of the tables, and does not know which version or why.
package rows
