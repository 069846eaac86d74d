// Remembers something, finds it again, says that it helped, and shows what happened to it.
import { AnnalsError, Client } from "@annals-kb/client";

const annals = new Client(); // of ANNALS_SERVER, with ANNALS_KEY

const item = await annals.remember({
  type: "strategy",
  content: "Retry 429s with jitter",
  task: "calling rate-limited APIs",
});

const { items } = await annals.search("how do I call a rate-limited API?");
for (const { score, knowledge } of items) console.log(score.toFixed(2), knowledge.id, knowledge.content);

const judged = await annals.feedback(item.id, { verdict: "helpful", outcome: "calls went through" });
console.log("confidence", judged.eval.confidence);

for await (const event of annals.history(item.id)) console.log(event.position, event.name, event.actor);

try {
  await annals.revise(item.id, { content: "", owner: "nobody" });
} catch (error) {
  if (!(error instanceof AnnalsError)) throw error;
  for (const { field, message } of error.errors) console.log(error.status, field, message);
}
await annals.forget(item.id, "this was an example");
