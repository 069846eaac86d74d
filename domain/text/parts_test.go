package text_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain/text"
)

func TestAQuestionOfTwoPartsIsTakenApart(t *testing.T) {
	t.Parallel()
	for question, want := range map[string][]string{
		"Which port does the API use, and how long are backups kept?": {"Which port does the API use", "how long are backups kept?"},
		"who owns billing and where is the runbook":                   {"who owns billing", "where is the runbook"},
		"What is Kafka for? When do we upgrade Postgres?":             {"What is Kafka for", "When do we upgrade Postgres?"},
		"退款由谁批准，备份保留多少天？":                                             {"退款由谁批准", "备份保留多少天？"},
		"what do Ada and Ben like?":                                   nil,
		"when I deploy, tests fail":                                   nil,
		"when was Kafka chosen, and who decided it?":                  nil, // the second part says nothing alone
		"retries and timeouts, how many?":                             nil,
		"":                                                            nil,
	} {
		if diff := cmp.Diff(want, text.Parts(question)); diff != "" {
			t.Errorf("%q: %s", question, diff)
		}
	}
}
