package extraction_test //nolint:lll // tables of test data

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/events/follow"
	"github.com/annals-kb/annals/projections/browse"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/review"
)

// remains is what messages of a new user leave: the active items, after "?" if people review them. Messages are
// separated by lines, and sessions by empty lines. A message may begin with its year.
func (w *world) remains(conversation string) []string {
	w.T.Helper()
	owner := domain.Entity(fmt.Sprint("user:u", w.learned))
	for n, session := range strings.Split(conversation, "\n\n") {
		target := domain.SessionTarget{By: w.By, Owner: owner, ID: fmt.Sprint("s", n)}
		for said := range strings.SplitSeq(session, "\n") {
			m, year := by("user", "", said), 0
			if found, _ := fmt.Sscanf(said, "%d ", &year); found == 1 {
				m.Message.Parts, m.At = text(said[5:]), time.Date(year, 5, 1, 9, 0, 0, 0, time.UTC)
			}
			w.Submit(domain.AddMessages{SessionTarget: target, Messages: []domain.NewMessage{m}})
		}
		w.Submit(domain.CommitSession{SessionTarget: target, Trigger: domain.TriggerTaskDone})
		w.learn()
	}
	proposer := review.Proposer{
		Log: w.Log, Followers: w.Followers, Reader: w.Base.Browser, Searcher: w.Base.Searcher, Writer: w.Log, Logger: databasetest.Log(w.T),
		Proposals: browse.Reports{Browser: w.Base.Browser, Log: w.Log},
	}
	var active []string
	page := Must(w.Log.Reader.Read(w.T.Context(), w.By.Tenant, w.proposed, 500))(w.T)
	Must(proposer.Prepare(w.T.Context(), follow.Page{Tenant: w.By.Tenant, Events: page}))(w.T)
	w.proposed += int64(len(page))
	for _, k := range w.items() {
		if k.Owner != owner {
			continue
		}
		said, _, _ := strings.Cut(k.Text.Content, " (as of ")
		about := Must(proposer.Proposals.ProposalsAbout(w.T.Context(), w.By.Tenant, []string{k.ID}))(w.T)
		if slices.ContainsFunc(about, func(p domain.RecordedProposal) bool { return p.Outcome == "" }) {
			active = append(active, "?"+said)
			continue
		}
		active = append(active, said)
	}
	slices.Sort(active)
	return active
}

// leave holds conversations, and compares what remains of them.
func leave(t *testing.T, cases map[string][]string) {
	t.Helper()
	each(t, func(t *testing.T, w *world) {
		for conversation, want := range cases {
			slices.Sort(want)
			Equal(t, w.remains(conversation), want, "%s (-got +want)", conversation)
		}
	})
}

func TestAnOlderStatementReplacesNoNewerOne(t *testing.T) {
	leave(t, map[string][]string{
		"2026 I live in Bergen.\n\n2024 I live in Oslo.":                                                          {"I live in Bergen."},
		"2026 I live in Bergen.\n2024 I live in Oslo.":                                                            {"I live in Bergen."},
		"I live in Bergen.\n\n2024 I live in Oslo.":                                                               {"I live in Bergen."},
		"2024 I live in Oslo.\n\n2026 I live in Bergen.\n\n2025 I live in Rome.":                                  {"I live in Bergen."},
		"2026 我住在杭州。\n\n2024 我住在上海。":                                                                              {"我住在杭州。"},
		"2026 Our staging port is 8443.\n\n2024 Actually, our staging port is 9000.":                              {"Our staging port is 8443."},
		"2026 We use Jenkins.\n\n2024 We stopped using Jenkins.":                                                  {"We use Jenkins."},
		"2026 I work at Globex.\n\n2025 I joined Hooli.":                                                          {"I work at Globex."},
		"2026 My name is Mia Berg.\n\n2019 My name is Mia Lund.":                                                  {"My name is Mia Berg."},
		"2026 Our staging port is 8443.\n\n2024 Our staging port is 9000.":                                        {"?Our staging port is 8443.", "?Our staging port is 9000."},
		"2026 I prefer tabs for indentation.\n\n2024 I like elastic tabstops for indentation.\n\n2023 I am vegan": {"I am vegan", "I prefer tabs for indentation.", "I like elastic tabstops for indentation."},
	})
}

func TestAChangeOfMindEndsWhatWasSaidOrPutsItUnderReview(t *testing.T) {
	leave(t, map[string][]string{
		"I live in Oslo.\n\nWe moved in May for her job, so I now live in Bergen.":       {"We moved in May for her job, so I now live in Bergen."},
		"I live in Oslo.\n\nI moved to Bergen last month.":                               {"?I live in Oslo.", "?I moved to Bergen last month."},
		"We use Kafka.\n\nWe used to use Kafka.":                                         {"We used to use Kafka."},
		"I'm allergic to peanuts.\n\nTurns out I'm not allergic to peanuts.":             {"Turns out I'm not allergic to peanuts."},
		"I have a dog named Rex.\n\nMy dog Rex died last week.":                          {"?I have a dog named Rex.", "?My dog Rex died last week."},
		"I work at Acme.\n\nI left Acme last week.":                                      {"?I work at Acme.", "?I left Acme last week."},
		"I work at Acme.\n\nI work at Globex.":                                           {"I work at Globex."},
		"Our CI runs on Jenkins.\n\nWe replaced Jenkins with Drone last week.":           {"?Our CI runs on Jenkins.", "?We replaced Jenkins with Drone last week."},
		"I prefer tabs.\n\nI changed my mind, I prefer spaces.":                          {"I changed my mind, I prefer spaces."},
		"I prefer tabs.\n\nOn second thought, I prefer spaces.":                          {"?I prefer tabs.", "?On second thought, I prefer spaces."},
		"I prefer dark mode.\n\nI prefer light mode now.":                                {"?I prefer dark mode.", "?I prefer light mode now."},
		"我在腾讯工作。\n\n我上个月从腾讯离职了。":                                                         {"?我上个月从腾讯离职了。", "?我在腾讯工作。"},
		"I'm a vegetarian.\n\nI'm vegan now.":                                            {"I'm vegan now."},
		"我对花生过敏。\n\n原来我对花生不过敏。":                                                          {"原来我对花生不过敏。"},
		"我家的狗叫豆豆。\n\n我的狗豆豆上周去世了。":                                                        {"?我家的狗叫豆豆。", "?我的狗豆豆上周去世了。"},
		"我们用 Kafka。\n\n我们以前用 Kafka。":                                                     {"我们以前用 Kafka。"},
		"我住在杭州。\n\n我们搬家了，我现在住在苏州。":                                                       {"我们搬家了，我现在住在苏州。"},
		"I have a dog named Rex.\n\nMy dog Max died last week.":                          {"I have a dog named Rex.", "My dog Max died last week."},
		"I prefer dark mode.\n\nI prefer the dark mode.\n\nPlease always use dark mode.": {"I prefer dark mode."},
		"我喜欢深色模式。\n\n请始终使用深色模式。\n\n以后都用深色模式。":                                            {"我喜欢深色模式。"},
	})
}

func TestAFactIsReplacedOnlyByAValueOfItsKind(t *testing.T) {
	leave(t, map[string][]string{
		"I live in Oslo.\nI work at Acme.\nMy name is Mia.\n\nI live in fear of regressions.\nI work at night.\nMy name is misspelt on the badge.\nTranslate to German: I live in London.\nHe said \"I live in Delft.\"\nImagine I live in Paris.": {"I live in Oslo.", "I work at Acme.", "My name is Mia."},
		"我叫王芳。\n我住在杭州。\n\n我叫你停下来\n我住在恐惧中。\n写一个故事：我叫张三，我住在火星。\n他说：“我住在上海。”":                                                                                                                                                                         {"我叫王芳。", "我住在杭州。"},
		"I live in Oslo.\n\nI live in Oslo and Bergen.": {"?I live in Oslo.", "?I live in Oslo and Bergen."},
		"I work at Acme.\n\nI work as a nurse.":         {"I work at Acme.", "I work as a nurse."},
		"My son is called Tom.\n\nMy daughter is Ada.":  {"My son is called Tom.", "My daughter is Ada."},
	})
}
