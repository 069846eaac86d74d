package domain

// Limits of what one item may hold.
const (
	MaxContent  = 64 << 10 // bytes
	maxTask     = 2000     // characters, as all below unless noted
	maxAbstract = 4000
	maxOverview = 16000
	maxReason   = 2000
	maxScopes   = 32
	maxTags     = 64       // values in all; a key without values counts as one
	maxTag      = 256      // characters of a key or a value
	maxMeta     = 16 << 10 // bytes
	maxNesting  = 64       // objects and arrays within one another
	maxURI      = 1024     // bytes
	maxIDs      = 500
	maxURLs     = 32
	maxURL      = 2048
	maxName     = 256
	maxHistory  = 50
	maxOrigins  = 1000 // events that an item was made from
)

// Limits of a search.
const (
	DefaultLimit = 10
	MaxLimit     = 100
	MaxQuery     = 8000 // characters
)

// Limits of one message or command.
const (
	MaxMessages = 500     // in one command
	maxMessage  = 1 << 20 // bytes of all texts of a message
	maxParts    = 1000    // of a message
)

// Limits of one report of use.
const (
	maxUsed     = 200      // contexts
	maxSkillRun = 64 << 10 // characters of a skill's input, and of its output
)

// maxNote limits the characters of a key's note.
const maxNote = 200

// maxErasureReason limits the characters of a legal basis, and of the name of the requester.
const maxErasureReason = 200

// The limits of subscriptions.
const (
	MostSubscriptions = 100 // that an entity receives or made for others, those that ended not counted
	maxFollowed       = 500 // characters of a query
)

// MostTraces limits the votes that a voter gives or changes on one item in a day.
const MostTraces = 10
