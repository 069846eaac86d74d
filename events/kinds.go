package events

import "github.com/annals-kb/annals/domain"

// kinds are the facts that can be recorded, by the names under which they are. A new optional
// field is added to its struct; anything else takes a new schema version and an upcaster.
var kinds = codec{
	domain.Remembered{}.Name():        apart(splitRemembered, joinRemembered),
	domain.Revised{}.Name():           apart(splitRevised, joinRevised),
	domain.Rescoped{}.Name():          apart(splitRescoped, joinRescoped),
	domain.Transferred{}.Name():       apart(splitTransferred, joinTransferred),
	domain.Moved{}.Name():             apart(splitMoved, joinMoved),
	domain.FoundHelpful{}.Name():      apart(splitHelpful, joinHelpful),
	domain.FoundHarmful{}.Name():      apart(splitHarmful, joinHarmful),
	domain.FeedbackRetracted{}.Name(): plain(splitRetracted, joinRetracted),
	domain.ReportedStale{}.Name():     apart(splitReportedStale, joinReportedStale),
	domain.Confirmed{}.Name():         apart(splitConfirmed, joinConfirmed),
	domain.Superseded{}.Name():        apart(splitSuperseded, joinSuperseded),
	domain.Deleted{}.Name():           apart(splitDeleted, joinDeleted),
	domain.Restored{}.Name():          apart(splitRestored, joinRestored),
	domain.Held{}.Name():              plain(splitHeld, joinHeld),
	domain.Released{}.Name():          plain(splitReleased, joinReleased),
	domain.Erased{}.Name():            plain(splitErased, joinErased),
	domain.Linked{}.Name():            apart(splitLinked, joinLinked),
	domain.Unlinked{}.Name():          plain(splitUnlinked, joinUnlinked),

	domain.SessionOpened{}.Name():       plain(splitSessionOpened, joinSessionOpened),
	domain.MessageAdded{}.Name():        apart(splitMessage, joinMessage),
	domain.ContextUsed{}.Name():         apart(splitUsed, joinUsed),
	domain.SessionCommitted{}.Name():    plain(splitCommitted, joinCommitted),
	domain.SessionExtracted{}.Name():    apart(splitExtracted, joinExtracted),
	domain.ExtractionFailed{}.Name():    apart(splitExtractionFailed, joinExtractionFailed),
	domain.ExtractionRequested{}.Name(): plain(splitExtractionRequested, joinExtractionRequested),
	domain.SessionDeleted{}.Name():      apart(splitSessionDeleted, joinSessionDeleted),
	domain.SessionErased{}.Name():       plain(splitSessionErased, joinSessionErased),

	domain.Redacted{}.Name():    apart(splitRedacted, joinRedacted),
	domain.TextsErased{}.Name(): plain(splitTextsErased, joinTextsErased),

	domain.KeyCreated{}.Name():     apart(splitKeyCreated, joinKeyCreated),
	domain.KeyRotated{}.Name():     plain(splitKeyRotated, joinKeyRotated),
	domain.KeyRevoked{}.Name():     apart(splitKeyRevoked, joinKeyRevoked),
	domain.TenantErased{}.Name():   plain(splitTenantErased, joinTenantErased),
	domain.TenantCreated{}.Name():  plain(splitTenantCreated, joinTenantCreated),
	domain.KeyRoleChanged{}.Name(): plain(splitKeyRole, joinKeyRole),

	domain.ErasureOrdered{}.Name():   plain(splitOrdered, joinOrdered),
	domain.ErasureCompleted{}.Name(): plain(splitCompleted, joinCompleted),

	domain.ScrubbingChanged{}.Name(): plain(splitScrubbingChanged, joinScrubbingChanged),

	domain.ProjectionStarted{}.Name():    plain(splitStarted, joinStarted),
	domain.ProjectionLoaded{}.Name():     plain(splitLoaded, joinLoaded),
	domain.ProjectionCaughtUp{}.Name():   plain(splitCaughtUp, joinCaughtUp),
	domain.ProjectionVerified{}.Name():   plain(splitVerified, joinVerified),
	domain.ProjectionRefused{}.Name():    plain(splitRefused, joinRefused),
	domain.ProjectionSwitched{}.Name():   plain(splitSwitched, joinSwitched),
	domain.ProjectionRolledBack{}.Name(): plain(splitRolledBack, joinRolledBack),
	domain.ProjectionCancelled{}.Name():  plain(splitCancelled, joinCancelled),
	domain.ProjectionFailed{}.Name():     apart(splitFailed, joinFailed),
	domain.ProjectionRetired{}.Name():    apart(splitRetired, joinRetired),
}
