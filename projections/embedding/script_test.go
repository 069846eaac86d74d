package embedding_test

import "testing"

// The endpoint tells texts apart by their lengths alone, like a model that has no piece of a script.
func TestAModelIsAskedOnceWhetherItReadsAScript(t *testing.T) {
	t.Parallel()
	e := &endpoint{}
	openAI := serve(t, e, nil)
	for s, want := range map[string]bool{
		"which days are off in Shanghai (上海)?": true, "上海": true, "PAY-1042": true, "": true, "年假 12 days, and more": true,
		"上海员工每年有多少天年假?": false, "差旅报销要在多少天内提交 Annals?": false, "когда следующий отпуск?": false,
	} {
		if got := openAI.Reads(t.Context(), s); got != want {
			t.Errorf("%q is read: %v", s, got)
		}
	}
	if got := len(e.received()); got != 2 {
		t.Errorf("%d requests for two scripts: %q", got, e.inputs())
	}
}
