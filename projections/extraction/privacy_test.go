package extraction_test //nolint:lll // tables of test data

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections/extraction"
	. "github.com/annals-kb/annals/projections/projectiontest"
)

// lines are what people and agents say. Each is said with a mark of its own in the place of the percent sign.
var lines = []string{
	"My doctor said that I have %s, please keep that to yourself.",
	"I live in %s.", "Bob needs %s every day.", "I take %s, so first stop the server, then call my doctor, finally rest.", "I prefer %s for indentation.", "Remember that the port of %s is 8443.",
	"The deploy of %s failed because the chart version was wrong.", "Pinning %s fixed it.",
	"Problem: %s does not start.", "Cause: %s is too old.", "Fix: install %s.", "chromedriver requires %s.",
	"First build %s, then test it, finally ship it.", "1. Stop %s.\n2. Wait.\n3. Start it.", "> I prefer %s.",
	"Final response: %s is done", "Tool sequence: %s", "Failure reason: %s is down", "POLARITY: negative %s", "Thanks for %s!",
	"Dr. %s requires payment in advance.", "Mrs. Jones requires %s.", "McDonald requires %s.", "1. Ask Bob Miller for his %s.\n2. Log in as Bob.\n3. Read his mail.",
	"1. Open the %s of Kim.\n2. Wait.\n3. Send Kim's key.", "1. 问张敏要 %s。\n2. 登录。\n3. 读邮件。", "Patient 7 needs %s.",
}

// persons are how those lines begin that are about persons, whoever says them.
var persons = []string{"Bob ", "Dr. ", "Mrs. ", "McDonald ", "1. Ask ", "1. Open ", "1. 问", "Patient "}

var marker = regexp.MustCompile(`zq\d+zq`)

// exchange is a conversation that is drawn, and its sentences.
type exchange struct {
	messages  []domain.NewMessage
	sentences []string
	marks     atomic.Int64
	personal  map[string]bool // the marks of what the user says of persons
}

func (e *exchange) sentence(rt *rapid.T, mine bool) string {
	line, mark := rapid.SampledFrom(lines).Draw(rt, "line"), fmt.Sprintf("zq%dzq", e.marks.Add(1))
	begins := func(who string) bool { return strings.HasPrefix(line, who) }
	e.personal[mark] = slices.ContainsFunc(persons, begins) || mine && (begins("I ") || begins("My "))
	s := fmt.Sprintf(line, mark)
	e.sentences = append(e.sentences, s)
	return s
}

func (e *exchange) draw(rt *rapid.T) {
	e.messages, e.sentences = nil, nil
	for range rapid.IntRange(1, 6).Draw(rt, "messages") {
		said := domain.NewMessage{Role: rapid.SampledFrom([]string{"user", "user", "assistant", "tool"}).Draw(rt, "role")}
		text, mine := rapid.SampledFrom([]string{"", "", "[user]: "}).Draw(rt, "form"), said.Role == domain.RoleUser
		turns := text != ""
		text += e.sentence(rt, mine)
		for range rapid.IntRange(0, 2).Draw(rt, "more") {
			between := rapid.SampledFrom([]string{" ", "\n", " [assistant]: "}).Draw(rt, "between")
			mine = mine && !(turns && between == " [assistant]: ")
			text += between + e.sentence(rt, mine)
		}
		said.Message.Parts = []domain.Part{{Type: domain.PartText, Text: text}}
		said.Message.Peer = rapid.SampledFrom([]string{"", "", "bo"}).Draw(rt, "peer")
		if rapid.Bool().Draw(rt, "tool") {
			said.Message.Parts = append(said.Message.Parts, domain.Part{
				Type: domain.PartTool, ToolName: "grep", ToolStatus: "error", ToolOutput: e.sentence(rt, false),
			})
		}
		e.messages = append(e.messages, said)
	}
}

// answer is what a model writes that mixes sentences up, and names messages at random.
func (e *exchange) answer(rt *rapid.T) string {
	type lesson struct {
		Category domain.Category `json:"category"`
		Key      string          `json:"key"`
		Task     string          `json:"task"`
		Content  string          `json:"content"`
		Messages []int           `json:"messages"`
	}
	var all []lesson
	for range rapid.IntRange(0, 4).Draw(rt, "lessons") {
		sentence := rapid.SampledFrom(e.sentences)
		all = append(all, lesson{
			Category: rapid.SampledFrom(domain.Categories).Draw(rt, "category"), Key: rapid.SampledFrom([]string{"", "grep", "indentation"}).Draw(rt, "key"),
			Task: rapid.OneOf(rapid.Just(""), sentence).Draw(rt, "task"), Content: sentence.Draw(rt, "content"),
			Messages: rapid.SliceOfN(rapid.IntRange(0, len(e.messages)-1), 1, 3).Draw(rt, "sources"),
		})
	}
	written := Must(json.Marshal(map[string]any{"summary": e.sentences[0], "overview": "", "lessons": all}))(rt)
	return string(written)
}

// Where another person can read it, an item says nothing but what was said in the messages that it is derived from, and those were
// committed for that person, or are a lesson that the tenant shares and that says nothing about persons.
func TestNothingUnrelatedIsToldToOthers(t *testing.T) {
	t.Parallel()
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		var answer atomic.Value
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			completion(answer.Load().(string))(w)
		}))
		t.Cleanup(server.Close)
		model := Must(extraction.NewModel(modelAt(server.URL, "confused")))(t)
		extractor := map[string]extraction.Extractor{"rules": extraction.BuiltIn{}, "model": model}
		worlds := map[string]*world{}
		for name := range extractor {
			worlds[name] = newWorld(t, db, extractor[name])
		}
		var tenants atomic.Int64
		rapid.Check(t, func(rt *rapid.T) {
			w := *worlds[rapid.SampledFrom([]string{"rules", "model"}).Draw(rt, "extractor")]
			w.By.Tenant, w.learned = fmt.Sprint("t", tenants.Add(1)), 0
			e, told, audience := &exchange{personal: map[string]bool{}}, map[string]string{}, map[string][]domain.Scope{}
			rule := rapid.SampledFrom([]domain.LearnedFor{domain.LearnedShared, domain.LearnedTeam, domain.LearnedPrivate}).Draw(rt, "rule")
			w.By.Memberships, w.By.Role = []domain.Entity{"team:web"}, domain.Admin
			w.Submit(domain.ChangeLearning{By: w.By, LearnedFor: rule})
			shared := map[domain.LearnedFor][]domain.Scope{domain.LearnedShared: {domain.Public}, domain.LearnedTeam: {"team:web"}}[rule]
			for i := range rapid.IntRange(1, 2).Draw(rt, "commits") {
				e.draw(rt)
				answer.Store(e.answer(rt))
				target, scopes := w.target(fmt.Sprint("s", i)), rapid.SampledFrom([][]domain.Scope{nil, {domain.Public}, {"team:web"}}).Draw(rt, "scopes")
				added := w.Submit(domain.AddMessages{SessionTarget: target, Messages: e.messages}).Events[1:]
				for j, m := range e.messages {
					for _, part := range m.Message.Parts {
						for _, mark := range marker.FindAllString(part.Text+part.ToolOutput, -1) {
							told[mark], audience[mark] = added[j].EventID, append(scopes, mia.Scope())
							if scopes == nil && !e.personal[mark] {
								audience[mark] = append(audience[mark], shared...)
							}
						}
					}
				}
				trigger := rapid.SampledFrom([]domain.Trigger{"", domain.TriggerStated}).Draw(rt, "trigger")
				w.Submit(domain.CommitSession{SessionTarget: target, Scopes: scopes, Trigger: trigger})
				w.learn()
			}
			for _, k := range w.items(domain.Active, domain.IsSuperseded) {
				if slices.Equal(k.Scopes, []domain.Scope{mia.Scope()}) {
					continue
				}
				if slices.Equal(k.Scopes, shared) && k.Category.AboutUser() {
					rt.Fatalf("%v may see %+v", k.Scopes, k)
				}
				for _, mark := range marker.FindAllString(fmt.Sprintf("%+v %s", k.Text, k.Text.Meta), -1) {
					if !slices.Contains(k.DerivedFrom, told[mark]) || !slices.Contains(audience[mark], k.Scopes[0]) {
						rt.Fatalf("%v may see %s of %s, told to %v, in %+v, which is derived from %v", k.Scopes, mark, told[mark], audience[mark], k.Text, k.DerivedFrom)
					}
				}
			}
		})
	})
}

// Whatever the layout of a report, nobody else may read what it says of a person.
func TestAffairsOfPersonsStayPrivateInEveryLayout(t *testing.T) {
	t.Parallel()
	english := []string{"Bob", "Kim", "Ingrid", "Zoltan Kovacs", "Mohammed Ali", "Priya Sharma", "Sean O'Brien", "Dr. Chen", "Yuki Tanaka", "Ms Weber", "Olga"}
	chinese := []string{"王芳", "张伟", "李娜", "陈静", "周敏", "赵先生"}
	affairs := map[string][]string{
		"WHO needs MARK every day": english, "WHO's MARK has expired": english, "Ask WHO for the MARK": english, "The account of WHO is closed for MARK": english,
		"WHO was dismissed over MARK": english, "WHO is allergic to MARK": english, "MARK fails since WHO left": english, "Login as WHO fails at MARK": english,
		"WHO的账号被MARK锁定": chinese, "WHO对MARK过敏": chinese, "问WHO要MARK": chinese, "因为WHO没有MARK": chinese, "联系WHO处理MARK": chinese, "WHO欠款MARK未还": chinese, "WHO 没有 MARK 权限": english,
	}
	layouts := []string{
		"SAID", "Final response: SAID", "Failure reason: SAID", "Environment: Linux\nCause: SAID", "Final response:\n- Done\n- SAID", "1. Open it\n2. SAID\n3. Close it", `{"error": 1, "reason": "SAID"}`, `{"error":1,"reason":"SAID"}`, "❌SAID",
		"Failure reason:\n```\nSAID\n```", "Done\r\nSAID\r\n", "**Cause:** SAID", "| it | fails |\n| SAID | 1 |", "最终回复：SAID", "失败原因：\n* SAID", "chromedriver 124 requires Chrome 124+ because SAID",
		"Skill 'mail' evolved: SAID", "First open it, then note: SAID. Finally close it.", "The run failed. SAID. It was repeated.", "Tool sequence: Read → Bash\nSAID\nEnvironment: macOS 14",
	}
	databasetest.Either(t, func(t *testing.T, db *database.DB) {
		w := newWorld(t, db, extraction.BuiltIn{})
		w.Submit(domain.ChangeLearning{By: w.By, LearnedFor: domain.LearnedShared})
		rapid.Check(t, func(rt *rapid.T) {
			affair := rapid.SampledFrom(slices.Sorted(maps.Keys(affairs))).Draw(rt, "affair")
			said := strings.NewReplacer("WHO", rapid.SampledFrom(affairs[affair]).Draw(rt, "who"), "MARK", "zqzq").Replace(affair)
			role := rapid.SampledFrom([]string{"user", "assistant", "assistant"}).Draw(rt, "role")
			for _, layout := range rapid.Permutation(layouts).Draw(rt, "layouts")[:4] {
				for _, kind := range []string{"openspace-evo-", "openspace-neg-"} {
					task := fmt.Sprint(rapid.SampledFrom([]string{"Fix crash ", "登录邮箱 "}).Draw(rt, "task"), w.learned)
					w.say(kind+fmt.Sprint(w.learned), by("user", "", task), by(role, "", strings.ReplaceAll(layout, "SAID", said)))
				}
			}
			bo := w.By
			bo.Subject, bo.Role = "user:bo", domain.Member
			page := Must(w.Base.Browser.List(t.Context(), domain.List{By: bo, Limit: 100}))(rt)
			for _, k := range page.Items {
				if strings.Contains(fmt.Sprintf("%+v", k.Text), "zqzq") {
					rt.Fatalf("%v may see %+v", k.Scopes, k.Text)
				}
			}
		})
	})
}

func TestWhatIsLearnedIsTheOwnersUnlessTheCommitSaysOtherwise(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		bo := w.By
		bo.Subject, bo.Role, bo.PublishPublic = "user:bo", domain.Member, false
		for _, test := range []struct {
			session, said string
			scopes        []domain.Scope
			found         int // by another member
		}{
			{"own", "The deploy failed because the chart version was wrong. Pinning chart 1.4 fixed it.", nil, 0},
			{"shared", "The search is broken since the index was lost. Installing the plugin again fixed it.", []domain.Scope{domain.Public}, 1},
		} {
			w.scopes = test.scopes
			w.hold(test.session, talk("My doctor said I have diabetes, please keep that to yourself.", test.said))
			w.learn()
			lessons := w.settled(test.session, 1).(domain.SessionExtracted).Lessons
			want := append(slices.Clone(test.scopes), mia.Scope())[:1]
			if i := slices.IndexFunc(lessons, func(l domain.Lesson) bool { return l.Category == domain.CategoryCases }); i < 0 ||
				!slices.Equal(lessons[i].Scopes, want) || len(lessons[i].Sources) != 1 {
				t.Errorf("%s: %+v, want a case for %v", test.session, lessons, want)
			}
			page, err := w.Base.Browser.List(t.Context(), domain.List{By: bo, Limit: 100})
			if err != nil || len(page.Items) != test.found {
				t.Errorf("%s: another member finds %+v, %v", test.session, page.Items, err)
			}
			for _, k := range page.Items {
				if strings.Contains(fmt.Sprintf("%+v", k.Text), "diabetes") {
					t.Errorf("another member reads %+v", k.Text)
				}
			}
		}
	})
}

func TestALessonIsRememberedOnceForEachAudience(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		said := talk("The deploy failed because the chart version was wrong. Pinning chart 1.4 fixed it.")
		for i, scopes := range [][]domain.Scope{nil, {"team:ops"}, {"team:web", "agent:coder"}, {domain.Public}} {
			w.scopes = scopes
			for j, want := range []domain.Decision{domain.DecideCreate, domain.DecideSkip, domain.DecideSkip} {
				session := fmt.Sprintf("s-%d-%d", i, j)
				w.hold(session, said)
				w.learn()
				Equal(t, w.decisions(session, 1), []domain.Decision{want}, "commit %d for %v (-got +want)", j+1, scopes)
			}
		}
		if items := w.items(domain.Active); len(items) != 4 {
			t.Errorf("got %d items, want one for each audience", len(items))
		}
	})
}
