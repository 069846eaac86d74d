package embedding_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/annals-kb/annals/projections/embedding"
)

func TestSentencesAreEncodedOnThisMachine(t *testing.T) {
	t.Parallel()
	if !embedding.IsLocal(embedding.Sentence{}) {
		t.Error("they are not")
	}
}

func TestASentenceIsNearToItsParaphrase(t *testing.T) {
	t.Parallel()
	for question, texts := range map[string][2]string{ // the answer, and another text
		"How much leave do I get?": {
			"Employees have thirty days of vacation per year.", "The trees in the yard get their leaves in May.",
		},
		"Who pays if I get ill abroad?": {
			"The company's insurance covers doctors in other countries.", "She pays for the abroad edition of the paper.",
		},
		"Is it fine to phone clients at the weekend?": {
			"Do not call customers on Saturday or Sunday.", "The weekend was fine and sunny.",
		},
	} {
		vectors, err := embedding.Sentence{}.Embed(t.Context(), append(texts[:], question), embedding.Document)
		if err != nil {
			t.Fatal(err)
		}
		answer, other := embedding.Cosine(vectors[2], vectors[0]), embedding.Cosine(vectors[2], vectors[1])
		if answer <= other {
			t.Errorf("%q: the answer is at %.2f, the other text at %.2f", question, answer, other)
		}
	}
}

func TestATextThatSaysNothingIsNearToNoQuestion(t *testing.T) {
	t.Parallel()
	nothing := []string{"", " \n", "!?!", "———", "我们每周二发布新版本。", "バックアップは毎晩二時に始まります。", "\xff\xfe", "😀"}
	english := []string{"When is the deploy window?", "x", "We deploy on Tuesdays.", "42", "!a"}
	for _, kinds := range [][2]embedding.Kind{{embedding.Query, embedding.Document}, {embedding.Document, embedding.Query}} {
		unknown, err := embedding.Sentence{}.Embed(t.Context(), nothing, kinds[0])
		if err != nil {
			t.Fatal(err)
		}
		others, err := embedding.Sentence{}.Embed(t.Context(), append(english, nothing...), kinds[1])
		if err != nil {
			t.Fatal(err)
		}
		for i := range unknown {
			for j := range others {
				if got := embedding.Cosine(unknown[i], others[j]); got > 0.15 {
					t.Errorf("%q is near to %q: %.2f", nothing[i], append(english, nothing...)[j], got)
				}
			}
		}
	}
}

func TestLineBreaksDoNotChangeASentence(t *testing.T) {
	t.Parallel()
	vectors, err := embedding.Sentence{}.Embed(t.Context(),
		[]string{"deploy window\n\tWe deploy on Tuesdays.\r\n", "deploy window We deploy on Tuesdays."}, embedding.Document)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(vectors[0], vectors[1]) {
		t.Error("the vectors differ")
	}
}

func TestSentencesStopWithTheirContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, text := range []string{"We deploy on Tuesdays.", "我们每周二发布新版本。"} {
		if _, err := (embedding.Sentence{}).Embed(ctx, []string{text}, embedding.Document); !errors.Is(err, context.Canceled) {
			t.Errorf("%q: got %v, want %v", text, err, context.Canceled)
		}
	}
}
