package mcp

import (
	"math"

	"github.com/annals-kb/annals/domain"
)

const kindsOfKnowledge = "preferences, profile, entities and events are about the user; " +
	"tools, patterns, skills, cases and antipatterns about work."

var (
	aQuery = field{
		name: "query", kind: "string",
		description: "What you want to know, in your own words: the task, the error, the question.", required: true,
	}
	aCategory = field{name: "category", kind: "string", description: "Only this kind: " + kindsOfKnowledge}
	anItem    = field{
		name: "uri", kind: item, description: "The item's viking:// URI, as retrieve_memory shows it, or its id.",
		required: true,
	}
	aReason  = field{name: "reason", kind: "string", description: "Why. It stands in the item's history."}
	aContent = field{
		name: "content", kind: "string", description: "The knowledge itself, understandable without this conversation.",
		required: true,
	}
	aTask     = field{name: "task", kind: "string", description: "In which situation it helps. Searched like the content."}
	aPolarity = field{
		name: "polarity", kind: "string", description: "negative for a failure to avoid.",
		values: []string{string(domain.Positive), string(domain.Negative)},
	}
	aWay = field{
		name: "on_similar", kind: "string",
		description: "What to do if known items say the same or contradict it: vote for the one that says exactly this " +
			"(default), only report them, link it to those that say the same, or refuse.",
		values: []string{
			string(domain.VoteSimilar), string(domain.ReportSimilar), string(domain.LinkSimilar), string(domain.RefuseSimilar),
		},
	}
	theScopes = field{
		name: "scopes", kind: "strings",
		description: "Who may see it: user:ID, agent:ID, project:ID, team:ID, org:ID, public.",
	}
)

func (f field) with(values []string, required bool) field {
	f.values, f.required = values, required
	return f
}

// saying is the argument with another description.
func (f field) saying(description string) field {
	f.description = description
	return f
}

const rememberDescription = "Remember one thing that will help later. The answer says who sees it, and names similar " +
	"items: if one is out of date or wrong, report or supersede it. What is about the user is kept for the user. " +
	"Unless scopes say otherwise, lessons about tools, skills, patterns and failures are for everyone if the tenant " +
	"shares them, and what else is about work is for the project or team of this session, or else for the caller's " +
	"only team, or else for the caller alone."

// tools are the tools for models.
func tools() []tool {
	return []tool{
		{
			name: "retrieve_memory", title: "Retrieve memory", reads: true, aliases: []string{
				"openviking_retrieve_memory", "memory_search",
			},
			description: "Find what is known about something: preferences of the user, how tools behave, cases, patterns, " +
				"skills, failures to avoid. The nearest scope comes first. Results with band \"perhaps\" may not be about the " +
				"query. Use it before a task, and when something fails.",
			input: []field{
				aQuery, aCategory.with(categories(), false),
				{name: "limit", kind: "integer", most: domain.MaxLimit, description: "At most so many; 5 if left out."},
			},
			do: retrieve,
		},
		{
			name: "remember", title: "Remember", aliases: []string{"openviking_remember"},
			description: rememberDescription,
			input: []field{
				aContent, aCategory.with(categories(), true).saying("What kind of knowledge it is: " + kindsOfKnowledge), aPolarity,
				aTask, theScopes, aWay,
			},
			do: remember,
		},
		{
			name: "forget_memory", title: "Forget memory", destroys: true, aliases: []string{"openviking_forget_memory"},
			description: "Take an item out of all answers, when the user asks for it. Its history stays.",
			input:       []field{anItem, aReason}, do: forget,
		},
		{
			name: "report_stale_memory", title: "Report stale memory", aliases: []string{"openviking_report_stale_memory"},
			description: "Say that an item is out of date. It is still found, with less confidence and a mark, until it is " +
				"confirmed.",
			input: []field{anItem, aReason.with(nil, true)}, do: reportStale,
		},
		{
			name: "review_queue", title: "Review queue", reads: true,
			description: "List the items that wait for a review, the most urgent first: reported out of date, with harmful " +
				"votes, or with a proposal that they say the same as another item or contradict it.",
			input: []field{
				{
					name: "whose", kind: "string", description: "mine: only items that the user owns, or that " +
						"are assigned to them or to a group that they maintain; all if left out.",
					values: []string{"mine", "all"},
				},
				{name: "scope", kind: "string", description: "Only items for this scope, such as team:pay."},
				{
					name: "queue", kind: "string", description: "Only items with this reason.", values: domain.Queues(),
				},
				{name: "limit", kind: "integer", most: maxReviews, description: "At most so many; 10 if left out."},
			},
			do: listReviews,
		},
		{
			name: "confirm_memory", title: "Confirm memory",
			description: "Say that an item still holds, after you have checked it. Reports that it is out of date count no " +
				"more.",
			input: []field{
				anItem, aReason.with(nil, true).saying("How you checked it. It stands in the item's history."),
				{
					name: "until", kind: "string",
					description: "How long it holds, such as 2027-01-31, tomorrow or 90d; for good if left out.",
				},
			},
			do: confirm,
		},
		{
			name: "propose_merge", title: "Propose a merge",
			description: "Propose that items are reviewed together, because they say the same or contradict each other. It " +
				"changes no item: their stewards decide.",
			input: []field{
				{
					name: "uris", kind: "strings", required: true,
					description: "The items, two to ten: viking:// URIs as retrieve_memory shows them, or ids.",
				},
				{
					name: "kind", kind: "string", required: true, description: "What the items are to each other.",
					values: words(domain.ProposalKinds),
				},
				aReason.with(nil, true).saying("Why. The people who decide read it."),
			},
			do: proposeMerge,
		},
		{
			name: "give_feedback", title: "Give feedback",
			description: "Say whether an item that you used was helpful or harmful. What helps is trusted more.",
			input: []field{
				anItem,
				{name: "verdict", kind: "string", description: "What came of using it.", required: true, values: []string{
					string(domain.Helpful), string(domain.Harmful),
				}},
				{name: "query", kind: "string", description: "What it was used for."},
				{name: "outcome", kind: "string", description: "What happened."},
				{
					name: "trace_id", kind: "string",
					description: "The run that it was used in: one vote counts for each run, or without one for a day.",
				},
			},
			do: giveFeedback,
		},
		{
			name: "get_knowledge", title: "Get knowledge", reads: true,
			description: "Read one item whole, with how it was judged.", input: []field{anItem}, do: knowledge,
		},
		{
			name: "save_knowledge", title: "Save knowledge",
			description: "Save an item with everything it can have, or revise the one with the same id: what you leave out " +
				"stays as it is.",
			input: []field{
				aContent,
				{
					name: "type", kind: "string", description: "What kind of knowledge it is.", required: true,
					values: words(domain.Types),
				},
				{
					name: "id", kind: id,
					description: "Yours: letters, digits and . _ ~ -. An item with that id is revised. " +
						"The server's choice if left out.",
				},
				aTask,
				{name: "abstract", kind: "string", description: "A hundred words or so; derived for a new item if left out."},
				aCategory.with(categories(), false).saying(
					"What kind of knowledge it is: " + kindsOfKnowledge,
				), aPolarity, theScopes,
				{
					name: "owner", kind: "string",
					description: "Who may change it: user:ID, agent:ID, project:ID, team:ID or org:ID. You, if left out.",
				},
				{
					name: "tags", kind: "object",
					description: "Labels: a key with a string or a list of strings. Of an item that is revised the other keys " +
						"stay; an empty list takes a key away.",
				},
				aReason.saying("Why, if it revises an item. It stands in the item's history."),
				{
					name: "confirm", schema: aFlag,
					description: "true, if it revises an item: also confirm that it still holds, so that reports of staleness end.",
				},
			},
			do: save,
		},
		{
			name: "memory_history", title: "Memory history", reads: true,
			description: "How an item came to be what it is: who remembered, revised, used, judged and forgot it, when and why.",
			input: []field{anItem, {
				name: "limit", kind: "integer", most: maxEvents, description: "The newest so many events; 50 if left out.",
			}, {
				name: "before", kind: "integer", most: math.MaxInt32, description: "Only events with a smaller version.",
			}},
			do: history,
		},
		{
			name: "memory_status", title: "Memory status", reads: true, aliases: []string{"openviking_memory_status"},
			description: "Whether the memory can be reached, where it is, and as whom it knows you.", do: status,
		},
	}
}
