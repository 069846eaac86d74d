package events

import (
	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/domain"
)

type ballotData struct {
	Voter    domain.Entity `json:"voter"`
	Ballot   string        `json:"ballot"`
	TraceID  string        `json:"trace_id,omitempty"`
	Replaces string        `json:"replaces,omitempty"`
}

func splitBallot(b domain.Ballot) (ballotData, useText) {
	return ballotData{Voter: b.Voter, Ballot: b.Key, TraceID: b.TraceID, Replaces: b.Replaces},
		useText{Query: b.Query, Outcome: b.Outcome}
}

func joinBallot(d ballotData, t useText) domain.Ballot {
	return domain.Ballot{
		Voter: d.Voter, Key: d.Ballot, TraceID: d.TraceID, Replaces: d.Replaces,
		Query: t.Query, Outcome: t.Outcome,
	}
}

func splitHelpful(f domain.FoundHelpful) (ballotData, useText) { return splitBallot(f.Ballot) }
func splitHarmful(f domain.FoundHarmful) (ballotData, useText) { return splitBallot(f.Ballot) }

func joinHelpful(d ballotData, t useText) domain.FoundHelpful {
	return domain.FoundHelpful{Ballot: joinBallot(d, t)}
}

func joinHarmful(d ballotData, t useText) domain.FoundHarmful {
	return domain.FoundHarmful{Ballot: joinBallot(d, t)}
}

type retractedData struct {
	Vote string `json:"vote"`
}

func splitRetracted(f domain.FeedbackRetracted) retractedData { return retractedData(f) }
func joinRetracted(d retractedData) domain.FeedbackRetracted  { return domain.FeedbackRetracted(d) }

// reasonText is why somebody did something, in his own words.
type reasonText struct {
	Reason string `json:"reason,omitempty"`
}

type reportedData struct {
	Reporter domain.Entity `json:"reporter"`
}

func splitReportedStale(f domain.ReportedStale) (reportedData, reasonText) {
	return reportedData{Reporter: f.Reporter}, reasonText{Reason: f.Reason}
}

func joinReportedStale(d reportedData, t reasonText) domain.ReportedStale {
	return domain.ReportedStale{Reporter: d.Reporter, Reason: t.Reason}
}

type confirmedData struct {
	Until database.Time `json:"until,omitzero"`
}

func splitConfirmed(f domain.Confirmed) (confirmedData, reasonText) {
	return confirmedData{Until: database.At(f.Until)}, reasonText{Reason: f.Reason}
}

func joinConfirmed(d confirmedData, t reasonText) domain.Confirmed {
	return domain.Confirmed{Until: d.Until.Time, Reason: t.Reason}
}
