// Gives a model of the AI SDK a memory. Put your provider's model in the place of the one that is made up here.
import { generateText, stepCountIs } from "ai";
import { MockLanguageModelV3 } from "ai/test";

import { Client } from "@annals-kb/client";
import { annalsTools } from "@annals-kb/client/ai";

const usage = { inputTokens: { total: 0 }, outputTokens: { total: 0 } };
const call = { type: "tool-call", toolCallId: "1", toolName: "retrieve_memory", input: '{"query":"deploying checkout"}' };
const model = new MockLanguageModelV3({
  doGenerate: [
    { content: [call], finishReason: { unified: "tool-calls" }, usage, warnings: [] },
    { content: [{ type: "text", text: "Deploy it on Tuesday." }], finishReason: { unified: "stop" }, usage, warnings: [] },
  ],
});

const { text, steps } = await generateText({
  model,
  prompt: "When may I deploy checkout?",
  tools: annalsTools(new Client()),
  stopWhen: stepCountIs(5),
});
console.log(steps[0].toolResults.map(({ toolName, output }) => `${toolName}: ${output.length} items`), text);
