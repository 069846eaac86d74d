package api

import "time"

// Expertise lists users by what they did about a subject.
type Expertise struct {
	Items []Expert `json:"items" nullable:"false" doc:"Active users first, then those who did most."`
}

// Expert is a user who wrote about a subject, confirmed it, or was thanked for it.
type Expert struct {
	Subject   string     `json:"subject" example:"user:mia"`
	Name      string     `json:"name,omitempty" doc:"In the directory."`
	Wrote     int        `json:"wrote" doc:"Items that they remembered or revised, or an agent on their behalf."`
	Confirmed int        `json:"confirmed" doc:"Items that they confirmed."`
	Thanked   int        `json:"thanked" doc:"Helpful votes of others on what they wrote."`
	Last      *time.Time `json:"last,omitempty" doc:"When they last wrote or confirmed."`
	Active    bool       `json:"active" doc:"Not deactivated in the directory."`
	Alone     bool       `json:"alone,omitempty" doc:"Nobody else who is active wrote about it."`
}

// SubjectMap says who wrote about which subjects.
type SubjectMap struct {
	Kind     string          `json:"kind" enum:"tag,category,type" doc:"What the subjects are: tags, or without any categories, or else types."`
	Subjects []Subject       `json:"subjects" nullable:"false" doc:"Those with the most items, at most 12. Of a member: those about which it wrote."`
	People   []SubjectWriter `json:"people" nullable:"false" doc:"Those who wrote most about these subjects, at most 12. A member comes first."`
}

// Subject is what several items are about.
type Subject struct {
	Name  string `json:"name" example:"kafka" doc:"As the filter has it: of a tag key:value, or a label."`
	Items int    `json:"items" doc:"That were counted: the newest 1,000."`
	Alone string `json:"alone,omitempty" example:"user:mia" doc:"The only active user who wrote about it."`
}

// SubjectWriter is a user with how much they wrote about each subject.
type SubjectWriter struct {
	Subject string `json:"subject" example:"user:mia"`
	Name    string `json:"name,omitempty" doc:"In the directory."`
	Active  bool   `json:"active" doc:"Not deactivated in the directory."`
	Counts  []int  `json:"counts" nullable:"false" doc:"Items that they wrote, in the order of the subjects."`
}
