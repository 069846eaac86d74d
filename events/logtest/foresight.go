package logtest

import "github.com/annals-kb/annals/domain"

// decidedOtherwise lets an item of the same transaction take the place that the next one foresaw for itself.
func decidedOtherwise(w *world) {
	second := w.remember("second").(domain.Remember)
	place := second.ExpectedFact().(domain.Remembered).Text.URI
	first := w.remember("first").(domain.Remember)
	first.Knowledge.Text.URI = place
	first, err := first.Complete()
	if err != nil {
		w.Fatal(err)
	}
	results := w.log.SubmitAll(w.Context(), []domain.Submission{w.submission(first), w.submission(second)})
	for i, id := range []string{"first", "second"} {
		if results[i].Err != nil {
			w.Fatal(results[i].Err)
		}
		recorded, answered := w.at(id, 1).Text.URI, results[i].Receipt.Knowledge.Text.URI
		if recorded != answered || recorded == place != (id == "first") {
			w.Errorf("%s: got %s, answered with %s; the place that both want is %s", id, recorded, answered, place)
		}
	}
	w.verify(w.by.Tenant)
}
