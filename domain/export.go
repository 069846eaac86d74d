package domain

// Export asks for a range of a tenant's log, record by record.
type Export struct {
	Tenant  string
	After   int64 // positions greater than this
	Through int64 // up to this one; 0 for the end of the log
	Texts   bool  // with what people wrote
}
