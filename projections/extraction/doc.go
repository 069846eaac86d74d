// Package extraction turns conversations into knowledge, and summarises long texts.
//
// Its one rule: every decision is recorded before it is carried out. An extractor finds lessons in an archive of a
// session. Existing knowledge decides what happens to each. The decisions are recorded as one fact, and then carried
// out from the record. An interrupted worker thus continues, and nothing is lost or done twice.
package extraction
