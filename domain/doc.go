// Package domain decides what may happen to a piece of knowledge.
//
// Its one rule: decisions have no side effects. A [Command] looks at a [DecisionContext] of what is
// known and answers with the facts that follow, or with a refusal; [Knowledge.Evolve] folds
// facts into state; [Rank] orders what a search found. Nothing here reads a clock, a database
// or a network, and nothing outside the standard library is imported.
package domain
