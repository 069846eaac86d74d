package api

// Health says that the process is alive.
type Health struct {
	Status  string `json:"status" enum:"ok"`
	Version string `json:"version"`
}

// Readiness says whether the server can answer requests and, if not, why.
type Readiness struct {
	Status string  `json:"status" enum:"ready,not ready,shutting down"`
	Checks []Check `json:"checks" nullable:"false"`
	// The others are of PostgreSQL.
	Database   string   `json:"database,omitempty" doc:"The same for a primary and its standbys, and for no other database."`
	Role       string   `json:"role,omitempty" enum:"primary,standby" doc:"A server that reads a standby takes no writes itself."`
	LagSeconds *float64 `json:"lag_seconds,omitempty" doc:"How far a standby is behind its primary."`
}

// Check is one condition of readiness.
type Check struct {
	Name   string `json:"name" example:"database"`
	Status string `json:"status" enum:"ok,failed,degraded" doc:"Degraded: something is missing without which the server is ready all the same."`
	Reason string `json:"reason,omitempty"`
}

// Welcome names the server.
type Welcome struct {
	Name    string `json:"name"`
	Version string `json:"version"`
	Docs    string `json:"docs"`
	OpenAPI string `json:"openapi"`
}
