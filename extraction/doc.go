// Package extraction makes knowledge of conversations, and summaries of what is long.
//
// Its one rule: nothing is done that was not recorded first. An extractor finds lessons in an archive of a session,
// what is known already decides what becomes of each, the decisions are recorded as one fact, and only then are they
// carried out, from the record: an interrupted worker continues, and nothing is lost or done twice.
package extraction
