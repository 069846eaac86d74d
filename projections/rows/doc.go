// Package rows holds what all projections read and write the tables of knowledge by: rows and their columns,
// filters as SQL, look-ups by key, scripts of statements and the definitions of the tables.
//
// Its one rule: it knows one version of the tables, and never which version that is or why.
package rows
