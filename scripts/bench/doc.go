// Command bench measures Annals over HTTP: the built program, on loopback, with databases of its own.
//
//	scripts/postgres.sh run go run ./scripts/bench remember
//	scripts/postgres.sh run go run ./scripts/bench search --base PATH
//
// Rates say more about the machine than about the program. So every program and every reference takes its turn in each
// round of one run, and the report states the ratio of the first program to the others.
package main
