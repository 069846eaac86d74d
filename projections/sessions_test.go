package projections_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/annals-kb/annals/database"
	"github.com/annals-kb/annals/database/databasetest"
	"github.com/annals-kb/annals/domain"
	"github.com/annals-kb/annals/projections"
	"github.com/annals-kb/annals/projections/keys"
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

func (w *world) session(id string) domain.SessionTarget {
	return domain.SessionTarget{By: w.by, Owner: "user:mia", ID: id}
}

func (w *world) say(id string, said ...string) domain.Receipt {
	w.t.Helper()
	return w.says(w.session(id), said...)
}

func (w *world) says(session domain.SessionTarget, said ...string) domain.Receipt {
	w.t.Helper()
	command := domain.AddMessages{SessionTarget: session}
	for _, text := range said {
		command.Messages = append(command.Messages, domain.NewMessage{
			Role: domain.RoleUser, Tokens: 3, Message: domain.Message{Parts: []domain.Part{{Type: domain.PartText, Text: text}}},
		})
	}
	return w.submit(command)
}

func TestASessionIsReadBack(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		sessions := sessions.Sessions{Log: w.log, Followers: w.followers}
		w.say("s1", "a", "b", "c")
		w.submit(domain.UseContexts{SessionTarget: w.session("s1"), URIs: []string{"viking://x"}})
		first := w.submit(domain.CommitSession{SessionTarget: w.session("s1"), Keep: 1, Trigger: domain.TriggerPeriodic})
		w.say("s1", "d")
		w.submit(domain.CommitSession{SessionTarget: w.session("s1")})
		w.say("s1", "e", "f")
		w.say("s2", "other")
		w.say("s3", "gone")
		w.submit(domain.DeleteSession{SessionTarget: w.session("s3")})

		stream, session, err := sessions.Find(t.Context(), w.by, "user:mia", "s1")
		if err != nil || session.Live != 2 || session.Committed() != 2 {
			t.Fatalf("%+v, %v", session, err)
		}
		live, err := sessions.Messages(t.Context(), w.by.Tenant, stream)
		if diff := cmp.Diff(texts(live), []string{"e", "f"}); diff != "" || err != nil {
			t.Errorf("%v %s", err, diff)
		}
		for number, want := range map[int][]string{1: {"a", "b"}, 2: {"c", "d"}} {
			archive, err := sessions.Archive(t.Context(), w.by.Tenant, stream, number)
			if diff := cmp.Diff(texts(archive.Messages), want); diff != "" || err != nil || archive.Outcome != nil {
				t.Errorf("archive %d: %v %s", number, err, diff)
			}
		}
		if _, err := sessions.Archive(t.Context(), w.by.Tenant, stream, 3); !errors.Is(err, domain.ErrNotFound) {
			t.Error(err)
		}
		for _, id := range []string{"s3", "s4", "a/b"} {
			if _, _, err := sessions.Find(t.Context(), w.by, "user:mia", id); !errors.Is(err, domain.ErrNotFound) {
				t.Errorf("%s: %v", id, err)
			}
		}
		list, _, err := sessions.List(t.Context(), w.by, "user:mia", "", 10, false)
		if names := namesOf(list); !slices.Equal(names, []string{"session:mia/s1", "session:mia/s2"}) || err != nil {
			t.Errorf("%v, %v", names, err)
		}
		list, _, err = sessions.List(t.Context(), w.by, "user:mia", "", 10, true)
		if names := namesOf(list); !slices.Equal(names, []string{
			"session:mia/s1", "session:mia/s2",
			"session:mia/s3",
		}) || err != nil {
			t.Errorf("with deleted ones: %v, %v", names, err)
		}
		list, more, err := sessions.List(t.Context(), w.by, "user:mia", "s1", 1, false)
		if names := namesOf(list); !slices.Equal(names, []string{"session:mia/s2"}) || !more || err != nil {
			t.Errorf("%v, %v", names, err)
		}

		task, err := sessions.Task(t.Context(), w.by, first.Events[0].EventID)
		if err != nil || task.Status != domain.TaskPending || task.Archive.Archive != 1 {
			t.Errorf("%+v, %v", task, err)
		}
		settle := domain.RecordExtraction{
			By: w.by, Session: stream.Name, Archive: 1,
			Fact: domain.ExtractionFailed{Task: task.ID, Archive: 1, Reason: "no idea"},
		}
		must(w.log.Submit(t.Context(), domain.Submission{
			Command: settle, By: w.by,
			Origin: domain.Origin{CausationID: task.ID},
		}))(t)
		tasks, err := sessions.Tasks(t.Context(), domain.TaskQuery{By: w.by, Limit: 10})
		if got := statusesOf(tasks); !slices.Equal(got, []string{"2 pending", "1 failed"}) || err != nil {
			t.Errorf("%v, %v", got, err)
		}
		tasks, err = sessions.Tasks(t.Context(), domain.TaskQuery{
			By: w.by, Session: stream.Name,
			Status: domain.TaskFailed, Limit: 10,
		})
		if got := statusesOf(tasks); !slices.Equal(got, []string{"1 failed"}) || err != nil {
			t.Errorf("%v, %v", got, err)
		}

		stranger := domain.Principal{Tenant: w.by.Tenant, Subject: "user:eve", Role: domain.Member}
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
			if _, err := sessions.Task(t.Context(), w.by, id); !errors.Is(err, domain.ErrNotFound) {
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
	eachRebuilding(t, func(t *testing.T, w *rebuilding) {
		w.say("s1", "we call it "+canary, "and "+canary+" again")
		w.submit(domain.UseContexts{SessionTarget: w.session("s1"), Skill: &domain.SkillUse{Input: canary}})
		commit := w.submit(domain.CommitSession{SessionTarget: w.session("s1")})
		w.submit(domain.RecordExtraction{By: w.by, Session: "session:mia/s1", Archive: 1, Fact: domain.SessionExtracted{
			Task: commit.Events[0].EventID, Archive: 1, Lessons: []domain.Lesson{{
				Category: domain.CategoryEntities, Decision: domain.DecideSkip, Text: domain.LessonText{Content: canary},
			}},
		}})
		if places := w.traces(); len(places) == 0 {
			t.Fatal("the canary was nowhere to begin with")
		}
		w.submit(domain.EraseSession{
			SessionTarget: w.session("s1"),
			ErasureReason: domain.ErasureReason{ReasonCode: "gdpr-17"},
		})
		if places := w.traces(); len(places) > 0 {
			t.Errorf("the canary is still in %v", places)
		}
		if last := w.run(); last.Error != "" || last.Report == nil || !last.Report.Passed {
			t.Errorf("a rebuild after it: %+v", last)
		}
	})
}

func TestTheFirstKeyIsNoticedByWhoeverGaveItAtOnceAndSoonByOthers(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		here, elsewhere := newWorld(t, db, projections.Settings{}), newWorld(t, db, projections.Settings{})
		mine, others := keys.NewKeys(db, here.log), keys.NewKeys(db, elsewhere.log)
		given := func(k *keys.Keys) bool {
			t.Helper()
			found := must(k.Any(t.Context()))(t)
			return found
		}
		for range 3 {
			if given(mine) || given(others) {
				t.Fatal("somebody was given a key")
			}
		}
		here.submit(domain.CreateKey{By: here.by, Prefix: "aaaaaaaaaa", Key: domain.KeyCreated{
			Hash: "00", Subject: "user:olga", Role: domain.Admin,
		}})
		if !given(mine) {
			t.Error("whoever gave the key has not noticed")
		}
		for !given(others) {
			if t.Context().Err() != nil {
				t.Fatal("another process never notices")
			}
			time.Sleep(time.Millisecond)
		}
	})
}
