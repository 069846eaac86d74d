package api

// Settings are the settings of a server, and the models that it asks.
type Settings struct {
	Items  []Setting `json:"items" nullable:"false"`
	File   string    `json:"file,omitempty" doc:"The configuration file; empty if there is none."`
	Models []Model   `json:"models" nullable:"false"`
}

// Setting is a setting of a server, and where its value comes from. Keys and passwords are left out of the value.
type Setting struct {
	Name     string `json:"name" example:"embedding-model"`
	Value    string `json:"value" doc:"Empty if it is not set."`
	Origin   string `json:"origin" example:"ANNALS_EMBEDDING_MODEL" doc:"flag, default, the variable or the configuration file."`
	Variable string `json:"variable,omitempty" example:"ANNALS_EMBEDDING_MODEL"`
	Group    string `json:"group,omitempty" example:"embedding"`
	Help     string `json:"help,omitempty" doc:"As in annals serve --help."`
}

// Learning is for whom lessons of sessions about tools, skills, patterns and antipatterns are.
type Learning struct {
	LearnedFor string `json:"learned_for" enum:"shared,team,private" doc:"shared: everyone in the tenant, if the key that commits may publish to them. team: the only team of the caller. private: as all other lessons."`
}

// Model is a model that the server asks.
type Model struct {
	Name   string `json:"name" enum:"embedding,embedding-previous,llm"`
	Model  string `json:"model" example:"openai:text-embedding-3-small:1536"`
	Reason string `json:"reason,omitempty" doc:"Why this one."`
}

// ModelTests are the results of asking each model a short text.
type ModelTests struct {
	Items []ModelTest `json:"items" nullable:"false"`
}

// ModelTest is the result of asking a model a short text.
type ModelTest struct {
	Model
	OK           bool    `json:"ok"`
	Milliseconds float64 `json:"milliseconds"`
	Dims         int     `json:"dims,omitempty" doc:"The length of the vector."`
	Error        string  `json:"error,omitempty" doc:"Why the model did not answer."`
}

// MaxProfileSeconds is how long a profile of the server may take: less than a request.
const MaxProfileSeconds = 20
