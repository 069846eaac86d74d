// Package reports registers the reports: who did what, what stands out, and who used it.
package reports
