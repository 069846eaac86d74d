// Package domain decides what may happen.
//
// Its one rule: decisions have no side effects. A [Command] reads a [DecisionContext] and returns facts or a refusal;
// Evolve folds facts into states. This package reads no clock, file, database or network, and imports only the
// standard library.
//
// # Glossary
//
// These words are terms of this project. Every other word means what it means in the field.
//
//   - Fact: something that happened, in the past tense. An event is a fact with its place in the log.
//   - Text of an event: what people wrote. It is stored apart from the event, so that it can be erased.
//   - Knowledge, or item: the state of one stream of facts, such as a lesson, a preference or a procedure.
//   - Scope: an audience, which is an entity or everyone in the tenant.
//   - Tier: how near a scope is to the caller, from user to public.
//   - Ballot: the trace of a vote or, without a trace, its day. A voter has one vote per ballot and item.
//   - Voice: a voter, or an item's owner together with its authors, its agent, and the agents that act for the
//     owner. Repeated votes of one voice weigh less.
//   - Contested: an item that was judged harmful or stale, and whose confidence is below [ContestedBelow], or that is
//     disputed: see [Rating.Contested], the one definition.
//   - Disputed: an item that contradicts another one, according to an open proposal.
//   - Divided: an item with at least two votes of each kind.
//   - Effective subject: the entity on whose behalf a principal acts, or else its own subject.
//   - Member directory: the users, agents and groups of a tenant, and who belongs to which group.
//   - Erasure target: something that an erasure order destroys, or that is related to such a thing.
//   - Archive: the messages of a session that one commit put together. Lessons are extracted from it.
//   - Lesson: a finding of an extractor in an archive, and the decision about it.
//   - Briefing: what an agent should know at a stage of its work.
//   - Aspect: what an item is to the agent that is briefed, such as a skill or a case.
//   - Version of a projection: one complete set of its tables. Readers read the active version.
//   - What-if: a version that is built only to be compared with the active one.
package domain
