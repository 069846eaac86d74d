package domain

// summaryOf is what the server itself has written last about an item, and nobody has written over: nil where it has not.
func summaryOf(dc DecisionContext, k *Knowledge) (abstract, overview *string) {
	summary, _ := dc.NewestFact(KnowledgeStream(k.ID), Revised{}.Name(), SystemPrincipal().Authentication).(Revised)
	if summary.Abstract != nil && *summary.Abstract == k.Text.Abstract && k.Text.Abstract != "" {
		abstract = summary.Abstract
	}
	if summary.Overview != nil && *summary.Overview == k.Text.Overview && k.Text.Overview != "" {
		overview = summary.Overview
	}
	return abstract, overview
}

// withoutSummary takes back what the server wrote about a content that changes: it holds no more.
func (r Revised) withoutSummary(dc DecisionContext, k *Knowledge) Revised {
	kept := r.Abstract == nil && k.Text.Abstract != "" || r.Overview == nil && k.Text.Overview != ""
	if r.Content == nil || *r.Content == k.Text.Content || !kept {
		return r
	}
	abstract, overview := summaryOf(dc, k)
	if r.Abstract == nil && abstract != nil {
		r.Abstract = new(string)
	}
	if r.Overview == nil && overview != nil {
		r.Overview = new(string)
	}
	return r
}

// keepingSummary leaves alone what the server wrote about a content that stays, where nobody writes another: who says the same again
// has no summary to take back.
func (r Revised) keepingSummary(dc DecisionContext, k *Knowledge) Revised {
	cleared := func(field *string, current string) bool { return field != nil && *field == "" && current != "" }
	if r.Content == nil || *r.Content != k.Text.Content || !cleared(r.Abstract, k.Text.Abstract) && !cleared(r.Overview, k.Text.Overview) {
		return r
	}
	abstract, overview := summaryOf(dc, k)
	if abstract != nil && r.Abstract != nil && *r.Abstract == "" {
		r.Abstract = nil
	}
	if overview != nil && r.Overview != nil && *r.Overview == "" {
		r.Overview = nil
	}
	return r
}
