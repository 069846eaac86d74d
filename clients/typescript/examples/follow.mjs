// Follows the log while something happens, and stops at the first event of it.
import { Client } from "@annals-kb/client";

const annals = new Client();
const before = await annals.remember({ type: "strategy", content: "Deploy on Tuesdays" });
const after = annals.position; // of what this client wrote last
await annals.forget(before.id, "this was an example");

for await (const event of annals.events({ after }, { follow: true })) {
  console.log(event.position, event.name, event.stream);
  if (event.stream === `knowledge:${before.id}`) break;
}
