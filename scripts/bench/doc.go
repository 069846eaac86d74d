// Package bench holds what the measuring programs below it share.
//
// Its one rule: a figure is worth something beside another one of the same run on the same machine, so
// every report names the machine, the versions and the settings.
package bench
