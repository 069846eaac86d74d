// A LangGraph store whose items everybody can find, correct and audit in Annals.
import { Client } from "@annals-kb/client";
import { AnnalsStore } from "@annals-kb/client/langgraph";

const store = new AnnalsStore(new Client());

await store.put(["users", "mia"], "food", { text: "Mia loves pizza", since: 2024 });
console.log((await store.get(["users", "mia"], "food")).value);
for (const { namespace, key } of await store.search(["users"], { query: "What does Mia eat?" })) console.log(namespace, key);
for (const { key } of await store.search(["users"], { filter: { since: { $gte: 2020 } } })) console.log(key);
console.log(await store.listNamespaces({ prefix: ["users"] }));
await store.delete(["users", "mia"], "food");
