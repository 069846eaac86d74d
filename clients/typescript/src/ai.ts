import { tool } from "ai";
import { z } from "zod";

import type { Client, Knowledge, Schemas } from "./index.js";

export interface ToolOptions {
  /** For whom to search. Default: everything that the client's key may see. */
  context?: Schemas["Searcher"];
  /** What every remembered item has, such as its scopes. */
  item?: Partial<Knowledge>;
}

const id = z.string().describe("The id of an item, as retrieve_memory returned it");

/** Tools for the AI SDK, under the names that the MCP server gives them. */
export function annalsTools(client: Client, { context, item }: ToolOptions = {}) {
  return {
    retrieve_memory: tool({
      description:
        "Look up what is known, before a task and when something fails. Do not rely on contested items. " +
        'Items with band "perhaps" may not be about the query.',
      inputSchema: z.object({
        query: z.string().min(1).describe("The task or question, in the user's words"),
        limit: z.number().int().min(1).max(20).optional(),
      }),
      execute: async ({ query, limit = 5 }, { abortSignal: signal }) => {
        const { items } = await client.search({ query, limit, context }, { signal });
        return items.map(({ knowledge, score, band, contested }) => ({
          id: knowledge.id!,
          task: knowledge.task,
          content: knowledge.content,
          avoid: knowledge.polarity === "negative" || undefined,
          confidence: knowledge.eval?.confidence,
          contested,
          score,
          band,
        }));
      },
    }),
    remember: tool({
      description: "Remember something that will help later: a preference, a fact, a way that worked or failed. No secrets.",
      inputSchema: z.object({
        content: z.string().min(1).describe("The knowledge itself, understandable on its own"),
        task: z.string().optional().describe("The situation in which it helps"),
        type: z.enum(["user_profile", "strategy", "tool", "usecase", "definition", "plan"]),
        polarity: z.enum(["positive", "negative"]).optional().describe("negative for a failure to avoid"),
      }),
      execute: async (given, { abortSignal: signal }) => {
        const { id, uri, redacted } = await client.remember({ ...given, ...item }, {}, { signal });
        return { id, uri, redacted };
      },
    }),
    give_feedback: tool({
      description: "Say whether an item was of use or did harm, after it was used.",
      inputSchema: z.object({ id, verdict: z.enum(["helpful", "harmful"]), outcome: z.string().optional() }),
      execute: async ({ id, ...vote }, { abortSignal: signal }) => {
        const judged = await client.feedback(id, vote, { signal });
        return { id, confidence: judged.eval?.confidence };
      },
    }),
    report_stale_memory: tool({
      description: "Report that an item no longer holds.",
      inputSchema: z.object({ id, reason: z.string().min(1) }),
      execute: async ({ id, reason }, { abortSignal: signal }) => {
        const reported = await client.stale(id, reason, { signal });
        return { id, confidence: reported.eval?.confidence };
      },
    }),
    forget_memory: tool({
      description: "Forget an item because the user asked for it. Its history stays.",
      inputSchema: z.object({ id, reason: z.string().min(1) }),
      execute: async ({ id, reason }, { abortSignal: signal }) => {
        await client.forget(id, reason, { signal });
        return { id };
      },
    }),
  };
}
