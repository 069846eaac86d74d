// Package backup writes and reads backups. A backup is one SQLite file with the tables of Annals that cannot be
// computed anew, whatever engine they come from, and the table backup, which describes it: [Contents].
package backup
