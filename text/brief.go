package text

// What is told of something long, in tokens: at most so many as its abstract, and as its overview.
const (
	AbstractTokens = 100
	OverviewTokens = 1500
)

// Brief is s where it has no more tokens than an abstract, and else its abstract.
func Brief(s string) string {
	if Tokens(s) <= AbstractTokens {
		return s
	}
	return Abstract(s, AbstractTokens)
}
