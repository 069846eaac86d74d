import assert from "node:assert/strict";
import { test } from "node:test";

import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";

import { annalsTools } from "../src/ai.js";
import { Client } from "../src/index.js";

const client = new Client();
const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 }, outputTokens: { total: 1, text: 1, reasoning: 0 },
};

/** Lets a model call these tools one after the other, and returns what each returned. */
async function called(...calls: [tool: string, input: object][]) {
  let step = 0;
  const model = new MockLanguageModelV3({
    doGenerate: async () => {
      const call = calls[step++];
      if (!call) return { content: [{ type: "text", text: "done" }], finishReason: { unified: "stop", raw: undefined }, usage, warnings: [] };
      const content = [{ type: "tool-call" as const, toolCallId: `c${step}`, toolName: call[0], input: JSON.stringify(call[1]) }];
      return { content, finishReason: { unified: "tool-calls", raw: undefined }, usage, warnings: [] };
    },
  });
  const { steps, text } = await generateText({
    model, prompt: "Deploy checkout", tools: annalsTools(client, { item: { tags: { domain: "deployment" } } }), stopWhen: stepCountIs(9),
  });
  assert.equal(text, "done");
  return steps.flatMap((one) => one.content.filter((part) => part.type === "tool-result" || part.type === "tool-error")) as any[];
}

test("a model remembers, finds, judges, reports and forgets", async () => {
  const about = `checkout-${crypto.randomUUID()}`;
  const [kept] = await called(["remember", { content: `Deploy ${about} on Tuesdays`, type: "definition" }]);
  const { id } = kept.output;
  assert.deepEqual((await client.find(id)).tags, { domain: "deployment" });
  const [hits, judged, stale, forgotten, none] = await called(
    ["retrieve_memory", { query: about, limit: 1 }], ["give_feedback", { id, verdict: "helpful" }], ["report_stale_memory", { id, reason: "Mondays" }],
    ["forget_memory", { id, reason: "asked to" }], ["retrieve_memory", { query: about, limit: 1 }],
  );
  assert.equal(hits.output[0].id, id);
  assert.equal(hits.output[0].content, `Deploy ${about} on Tuesdays`);
  assert.equal(hits.output[0].band, "sure");
  assert.equal(judged.output.confidence, 0.75);
  assert.ok(stale.output.confidence < 0.75);
  assert.deepEqual(forgotten.output, { id });
  assert.notEqual(none.output[0]?.id, id);
});

test("what a model may not do comes back as an error of the tool", async () => {
  const [missing, bad] = await called(["forget_memory", { id: "not-there", reason: "x" }], ["remember", { content: "", type: "poem" }]);
  assert.equal(missing.type, "tool-error");
  assert.equal(missing.error.status, 404);
  assert.equal(bad.type, "tool-error");
});
