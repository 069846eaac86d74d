package events

import (
	"time"

	"github.com/annals-kb/annals/domain"
)

// seconds is a duration as it is recorded: in seconds, with six decimals at most.
func seconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e6 }

func lasting(seconds float64) time.Duration {
	return time.Duration(seconds * float64(time.Second)).Round(time.Microsecond)
}

type startedData struct {
	Version  int               `json:"version"`
	Settings map[string]string `json:"settings,omitempty"`
	Items    int64             `json:"items"`
}

func splitStarted(f domain.ProjectionStarted) startedData { return startedData(f) }
func joinStarted(d startedData) domain.ProjectionStarted  { return domain.ProjectionStarted(d) }

type loadedData struct {
	Version int     `json:"version"`
	Streams int64   `json:"streams"`
	Events  int64   `json:"events"`
	Seconds float64 `json:"seconds"`
}

func splitLoaded(f domain.ProjectionLoaded) loadedData {
	return loadedData{Version: f.Version, Streams: f.Streams, Events: f.Events, Seconds: seconds(f.Took)}
}

func joinLoaded(d loadedData) domain.ProjectionLoaded {
	return domain.ProjectionLoaded{Version: d.Version, Streams: d.Streams, Events: d.Events, Took: lasting(d.Seconds)}
}

type caughtUpData struct {
	Version int     `json:"version"`
	Seconds float64 `json:"seconds"`
}

func splitCaughtUp(f domain.ProjectionCaughtUp) caughtUpData {
	return caughtUpData{Version: f.Version, Seconds: seconds(f.Took)}
}

func joinCaughtUp(d caughtUpData) domain.ProjectionCaughtUp {
	return domain.ProjectionCaughtUp{Version: d.Version, Took: lasting(d.Seconds)}
}

type findingsData struct {
	Version  int              `json:"version"`
	Against  int              `json:"against"`
	Items    int64            `json:"items"`
	Wrong    int              `json:"deviations"`
	Changed  map[string]int64 `json:"changed,omitempty"`
	Intended []string         `json:"intended,omitempty"`
	Overlap  float64          `json:"overlap"`
	Searches int              `json:"searches"`
	Seconds  float64          `json:"seconds"`
}

func splitFindings(f domain.VerificationResult) findingsData {
	return findingsData{
		Version: f.Version, Against: f.Against, Items: f.Items, Wrong: f.Wrong, Changed: f.Changed,
		Intended: f.Intended, Overlap: f.Overlap, Searches: f.Searches, Seconds: seconds(f.Took),
	}
}

func joinFindings(d findingsData) domain.VerificationResult {
	return domain.VerificationResult{
		Version: d.Version, Against: d.Against, Items: d.Items, Wrong: d.Wrong, Changed: d.Changed,
		Intended: d.Intended, Overlap: d.Overlap, Searches: d.Searches, Took: lasting(d.Seconds),
	}
}

func splitVerified(f domain.ProjectionVerified) findingsData {
	return splitFindings(f.VerificationResult)
}
func splitRefused(f domain.ProjectionRefused) findingsData {
	return splitFindings(f.VerificationResult)
}

func joinVerified(d findingsData) domain.ProjectionVerified {
	return domain.ProjectionVerified{VerificationResult: joinFindings(d)}
}

func joinRefused(d findingsData) domain.ProjectionRefused {
	return domain.ProjectionRefused{VerificationResult: joinFindings(d)}
}

type switchedData struct {
	Version int `json:"version"`
	From    int `json:"from"`
}

func splitSwitched(f domain.ProjectionSwitched) switchedData     { return switchedData(f) }
func joinSwitched(d switchedData) domain.ProjectionSwitched      { return domain.ProjectionSwitched(d) }
func splitRolledBack(f domain.ProjectionRolledBack) switchedData { return switchedData(f) }
func joinRolledBack(d switchedData) domain.ProjectionRolledBack {
	return domain.ProjectionRolledBack(d)
}

type versionData struct {
	Version int `json:"version"`
}

func splitCancelled(f domain.ProjectionCancelled) versionData { return versionData(f) }
func joinCancelled(d versionData) domain.ProjectionCancelled  { return domain.ProjectionCancelled(d) }

func splitFailed(f domain.ProjectionFailed) (versionData, reasonText) {
	return versionData{Version: f.Version}, reasonText{Reason: f.Reason}
}

func splitRetired(f domain.ProjectionRetired) (versionData, reasonText) {
	return versionData{Version: f.Version}, reasonText{Reason: f.Reason}
}

func joinRetired(d versionData, t reasonText) domain.ProjectionRetired {
	return domain.ProjectionRetired{Version: d.Version, Reason: t.Reason}
}

func joinFailed(d versionData, t reasonText) domain.ProjectionFailed {
	return domain.ProjectionFailed{Version: d.Version, Reason: t.Reason}
}
