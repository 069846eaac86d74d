package sessions_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/domain"
	. "github.com/annals-kb/annals/projections/projectiontest"
	"github.com/annals-kb/annals/projections/sessions"
)

// texts are what messages say.
func texts(messages []domain.Event) (all []string) {
	for _, m := range messages {
		for _, part := range m.Fact.(domain.MessageAdded).Message.Parts {
			all = append(all, part.Text)
		}
	}
	return all
}

func session(w *World, id string) domain.SessionTarget {
	return domain.SessionTarget{By: w.By, Owner: "user:mia", ID: id}
}

func say(w *World, id string, said ...string) domain.Receipt {
	w.T.Helper()
	return w.Says(session(w, id), said...)
}

func TestASessionIsReadBack(t *testing.T) {
	Each(t, func(t *testing.T, w *World) {
		sessions := sessions.Sessions{Log: w.Log, Followers: w.Followers}
		say(w, "s1", "a", "b", "c")
		w.Submit(domain.UseContexts{SessionTarget: session(w, "s1"), URIs: []string{"viking://x"}})
		first := w.Submit(domain.CommitSession{SessionTarget: session(w, "s1"), Keep: 1, Trigger: domain.TriggerPeriodic})
		say(w, "s1", "d")
		w.Submit(domain.CommitSession{SessionTarget: session(w, "s1")})
		say(w, "s1", "e", "f")
		say(w, "s2", "other")
		say(w, "s3", "gone")
		w.Submit(domain.DeleteSession{SessionTarget: session(w, "s3")})

		stream, session, err := sessions.Find(t.Context(), w.By, "user:mia", "s1")
		if err != nil || session.Live != 2 || session.Committed() != 2 {
			t.Fatalf("%+v, %v", session, err)
		}
		live, err := sessions.Messages(t.Context(), w.By.Tenant, stream)
		if diff := cmp.Diff(texts(live), []string{"e", "f"}); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		for number, want := range map[int][]string{1: {"a", "b"}, 2: {"c", "d"}} {
			archive, err := sessions.Archive(t.Context(), w.By.Tenant, stream, number)
			if diff := cmp.Diff(texts(archive.Messages), want); diff != "" || err != nil || archive.Outcome != nil {
				t.Errorf("archive %d: %v %s", number, err, diff)
			}
		}
		if _, err := sessions.Archive(t.Context(), w.By.Tenant, stream, 3); !errors.Is(err, domain.ErrNotFound) {
			t.Error(err)
		}
		for _, id := range []string{"s3", "s4", "a/b"} {
			if _, _, err := sessions.Find(t.Context(), w.By, "user:mia", id); !errors.Is(err, domain.ErrNotFound) {
				t.Errorf("%s: %v", id, err)
			}
		}
		list, _, err := sessions.List(t.Context(), w.By, "user:mia", "", 10, false)
		if names := namesOf(list); !slices.Equal(names, []string{"session:mia/s1", "session:mia/s2"}) || err != nil {
			t.Errorf("%v, %v", names, err)
		}
		list, _, err = sessions.List(t.Context(), w.By, "user:mia", "", 10, true)
		if names := namesOf(list); !slices.Equal(names, []string{
			"session:mia/s1", "session:mia/s2",
			"session:mia/s3",
		}) || err != nil {
			t.Errorf("with deleted ones: %v, %v", names, err)
		}
		list, more, err := sessions.List(t.Context(), w.By, "user:mia", "s1", 1, false)
		if names := namesOf(list); !slices.Equal(names, []string{"session:mia/s2"}) || !more || err != nil {
			t.Errorf("%v, %v", names, err)
		}

		task, err := sessions.Task(t.Context(), w.By, first.Events[0].EventID)
		if err != nil || task.Status != domain.TaskPending || task.Archive.Archive != 1 {
			t.Errorf("%+v, %v", task, err)
		}
		settle := domain.RecordExtraction{
			By: w.By, Session: stream.Name, Archive: 1,
			Fact: domain.ExtractionFailed{Task: task.ID, Archive: 1, Reason: "no idea"},
		}
		Must(w.Log.Submit(t.Context(), domain.Submission{
			Command: settle, By: w.By,
			Origin: domain.Origin{CausationID: task.ID},
		}))(t)
		tasks, err := sessions.Tasks(t.Context(), domain.TaskQuery{By: w.By, Limit: 10})
		if got := statusesOf(tasks); !slices.Equal(got, []string{"2 pending", "1 failed"}) || err != nil {
			t.Errorf("%v, %v", got, err)
		}
		tasks, err = sessions.Tasks(t.Context(), domain.TaskQuery{
			By: w.By, Session: stream.Name,
			Status: domain.TaskFailed, Limit: 10,
		})
		if got := statusesOf(tasks); !slices.Equal(got, []string{"1 failed"}) || err != nil {
			t.Errorf("%v, %v", got, err)
		}

		stranger := domain.Principal{Tenant: w.By.Tenant, Subject: "user:eve", Role: domain.Member}
		if _, _, err := sessions.Find(t.Context(), stranger, "user:mia", "s1"); !errors.Is(err, domain.ErrNotFound) {
			t.Error(err)
		}
		if _, err := sessions.Task(t.Context(), stranger, task.ID); !errors.Is(err, domain.ErrNotFound) {
			t.Error(err)
		}
		if tasks, err := sessions.Tasks(t.Context(), domain.TaskQuery{
			By:    stranger,
			Limit: 10,
		}); len(tasks) > 0 || err != nil {
			t.Errorf("%v, %v", tasks, err)
		}
		if list, _, err := sessions.List(t.Context(), stranger, "user:mia", "", 10, false); len(list) > 0 || err != nil {
			t.Errorf("%v, %v", list, err)
		}
		for _, id := range []string{"nonsense", live[0].EventID} {
			if _, err := sessions.Task(t.Context(), w.By, id); !errors.Is(err, domain.ErrNotFound) {
				t.Errorf("%s: %v", id, err)
			}
		}
	})
}

func namesOf(list []domain.Stream) (names []string) {
	for _, stream := range list {
		names = append(names, stream.Name)
	}
	return names
}

func statusesOf(tasks []domain.Task) (all []string) {
	for _, task := range tasks {
		all = append(all, fmt.Sprintf("%d %s", task.Archive.Archive, task.Status))
	}
	return all
}

func TestAnErasedSessionLeavesNoTrace(t *testing.T) {
	EachRebuilding(t, func(t *testing.T, w *Rebuilding) {
		say(w.World, "s1", "we call it "+Canary, "and "+Canary+" again")
		w.Submit(domain.UseContexts{SessionTarget: session(w.World, "s1"), Skill: &domain.SkillUse{Input: Canary}})
		commit := w.Submit(domain.CommitSession{SessionTarget: session(w.World, "s1")})
		w.Submit(domain.RecordExtraction{By: w.By, Session: "session:mia/s1", Archive: 1, Fact: domain.SessionExtracted{
			Task: commit.Events[0].EventID, Archive: 1, Lessons: []domain.Lesson{{
				Category: domain.CategoryEntities, Decision: domain.DecideSkip, Text: domain.LessonText{Content: Canary},
			}},
		}})
		if places := w.Traces(); len(places) == 0 {
			t.Fatal("the canary was nowhere to begin with")
		}
		w.Submit(domain.EraseSession{
			SessionTarget: session(w.World, "s1"),
			ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"},
		})
		if places := w.Traces(); len(places) > 0 {
			t.Errorf("the canary is still in %v", places)
		}
		if last := w.Run(); last.Error != "" || last.Report == nil || !last.Report.Passed {
			t.Errorf("a rebuild after it: %+v", last)
		}
	})
}
