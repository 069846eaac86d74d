// Package domain decides what may happen.
//
// Its one rule: decisions have no side effects. A [Command] looks at a [DecisionContext] of what is
// known and answers with facts or with a refusal; facts are folded into states by Evolve. Nothing here
// reads a clock, a file, a database or the network, and nothing but the standard library is imported.
//
// # Glossary
//
// These words are terms of this project. Every other word means what it means in the field.
//
//   - Fact: something that happened, in the past tense. An event is a fact with its place in the log.
//   - Text of an event: what people wrote. It lies apart from the event, so that it can be destroyed.
//   - Knowledge, or item: what one stream of facts says, such as a lesson, a preference or a procedure.
//   - Scope: an audience, which is an entity or everyone in the tenant. Tier: how near a scope is.
//   - Vote: one statement that an item was helpful or harmful. Ballot: what identifies a voter's vote,
//     which is its trace or, without one, its day.
//   - Confidence: what the votes for and against an item and the reports of staleness come to, 0…1.
//   - Contested: an item that was judged harmful or stale, and whose confidence is below [ContestedBelow].
//   - Effective subject: on whose behalf a principal acts, or else the principal itself.
//   - Erasure target: something that an order of erasure destroys, or that is related to that.
//   - Redaction: a secret is taken out of a recorded text. Detection: it is found there.
//   - Archive: the messages of a session that one commit put together, from which lessons are extracted.
//   - Lesson: what an extractor found in an archive, and what became of it.
//   - Briefing: what an agent should know at a stage of its work. Aspect: what an item is to that agent.
//   - What-if: a version of a projection that is built only to be compared with the active one.
package domain
