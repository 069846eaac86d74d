import assert from "node:assert/strict";
import { test } from "node:test";

import { Embeddings } from "@langchain/core/embeddings";
import { Annotation, END, type LangGraphRunnableConfig, START, StateGraph } from "@langchain/langgraph";
import { type BaseStore, InMemoryStore } from "@langchain/langgraph-checkpoint";

import { Client } from "../src/index.js";
import { AnnalsStore } from "../src/langgraph.js";

/** Counts words, which is enough to tell what is about what. */
class Words extends Embeddings {
  constructor() { super({}); }
  async embedQuery(text: string) {
    const vector = new Array<number>(512).fill(0);
    for (const [word] of text.toLowerCase().matchAll(/\p{L}+/gu)) {
      vector[[...word].reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) % 512, 7)]! += 1;
    }
    return vector;
  }
  async embedDocuments(texts: string[]) { return Promise.all(texts.map((text) => this.embedQuery(text))); }
}

const client = new Client();
const root = () => `viking://resources/langgraph-test/${crypto.randomUUID()}`;
const plain = (items: { namespace: string[]; key: string; value: object }[]) =>
  items.map(({ namespace, key, value }) => JSON.stringify([namespace, key, value])).sort();

/** Does the same with both stores, and compares what each step says. */
async function both(script: (store: BaseStore) => AsyncGenerator<unknown>) {
  const steps: unknown[][] = [];
  for (const store of [new InMemoryStore({ index: { dims: 512, embeddings: new Words() } }), new AnnalsStore(client, { root: root() })]) {
    const said = [];
    for await (const step of script(store)) said.push(step);
    steps.push(said);
  }
  assert.ok(steps[0]!.length > 0);
  assert.deepEqual(steps[1], steps[0]);
}

const refusal = (promise: Promise<unknown>) => promise.then(() => "accepted", (error: Error) => error.constructor.name);

test("what is put is got, put again and deleted as in the store in memory", () => both(async function* (store) {
  yield await store.get(["users", "1"], "prefs");
  await store.put(["users", "1"], "prefs", { theme: "dark", deep: { list: [1, "zwei", null, true, 2.5] } });
  const first = await store.get(["users", "1"], "prefs");
  yield plain([first!]);
  yield first!.createdAt instanceof Date && first!.updatedAt instanceof Date;
  await store.put(["users", "1"], "prefs", { theme: "light" });
  const second = await store.get(["users", "1"], "prefs");
  yield plain([second!]);
  yield second!.createdAt.getTime() === first!.createdAt.getTime();
  yield await store.get(["users"], "prefs");
  yield await store.get(["users", "1"], "pref");
  await store.delete(["users", "1"], "prefs");
  yield await store.get(["users", "1"], "prefs");
  yield await store.delete(["users", "1"], "prefs");
  await store.put(["users", "1"], "prefs", { theme: "again" });
  yield plain([(await store.get(["users", "1"], "prefs"))!]);
}));

test("names of any form stay apart", () => both(async function* (store) {
  const names: [string[], string][] = [
    [["a"], "b"], [["a", "b"], "c"], [["a", "b.json".replace(".", "_")], "c"], [["a/b"], "c"], [["a", "B"], "c"], [["名", "ü %2F"], "钥匙 ?#&"],
    [["a"], "."], [["a"], ".."], [["a"], "x/../y"], [["a"], " x "], [["a"], "b.json"], [["~"], "C:"], [["a"], "back\\slash"], [["a"], ""], [["a"], "%"],
  ];
  for (const [i, [namespace, key]] of names.entries()) await store.put(namespace, key, { i });
  for (const [namespace, key] of names) yield plain([(await store.get(namespace, key))!]);
  yield plain(await store.search([], { limit: 100 }));
  yield await store.listNamespaces();
}));

test("a search takes what is below the prefix and passes the filter", () => both(async function* (store) {
  for (let i = 0; i < 12; i++) {
    await store.put(["docs", i % 2 ? "odd" : "even"], `k${i}`, { i, kind: i % 3 ? "note" : "report", text: String(i), nested: { i } });
  }
  await store.put(["docs2"], "other", { i: 99 });
  yield plain(await store.search(["docs"], { limit: 100 }));
  yield plain(await store.search(["docs", "odd"], { limit: 100 }));
  yield (await store.search(["docs"])).length;
  const pages = [await store.search(["docs"], { limit: 5 }), await store.search(["docs"], { limit: 5, offset: 5 }), await store.search(["docs"], { limit: 5, offset: 10 })];
  yield pages.map((page) => page.length);
  yield plain(pages.flat());
  yield await store.search(["docs"], { limit: 0 });
  yield await store.search(["docs"], { limit: 0, offset: 5 });
  for (const filter of [
    { kind: "report" }, { i: { $gt: 3, $lte: 7 } }, { i: { $gte: 10 } }, { i: { $lt: 1 } }, { kind: { $ne: "note" } }, { i: { $eq: 4 } }, { i: { $in: [1, 2, 50] } },
    { i: { $nin: [1, 2] }, kind: "note" }, { absent: 1 }, { absent: { $ne: 1 } }, { i: { $eq: "4" } }, { text: { $gt: 8 } }, { nested: { i: 1 } }, {}, { i: {} },
  ]) {
    yield plain(await store.search(["docs"], { filter, limit: 100 }));
  }
}));

test("namespaces are listed by prefix, suffix, wildcard and depth", () => both(async function* (store) {
  for (const namespace of [["a", "b", "c"], ["a", "b", "d", "e"], ["a", "b", "d", "i"], ["a", "b", "f"], ["a", "c", "f"], ["b", "a", "f"], ["B"]]) {
    await store.put(namespace, "k", { x: 1 });
    await store.put(namespace, "l", { x: 2 });
  }
  for (const options of [
    {}, { prefix: ["a", "b"] }, { prefix: ["a", "b"], maxDepth: 3 }, { suffix: ["f"] }, { prefix: ["a"], suffix: ["f"] }, { prefix: ["*", "b"] }, { suffix: ["b", "*"] },
    { maxDepth: 1 }, { limit: 2 }, { limit: 2, offset: 2 }, { limit: 0 }, { offset: 100 }, { prefix: ["a", "b", "c", "d", "e", "f"] }, { prefix: ["none"] }, { prefix: [] }, { suffix: [] },
  ]) {
    yield await store.listNamespaces(options);
  }
}));

test("a batch reads before it writes, and of a key writes only the last", () => both(async function* (store) {
  await store.put(["n"], "a", { x: 1 });
  const [a, none, , found, namespaces]: any[] = await store.batch([
    { namespace: ["n"], key: "a" }, { namespace: ["n"], key: "b" }, { namespace: ["n"], key: "b", value: { x: 2 } },
    { namespacePrefix: ["n"] }, { limit: 10, offset: 0, matchConditions: [] },
    { namespace: ["n"], key: "a", value: null }, { namespace: ["n"], key: "b", value: { x: 3 } },
  ]);
  yield [plain([a]), none, plain(found), namespaces];
  yield plain(await store.search(["n"]));
  yield await store.batch([]);
}));

test("a namespace that cannot be is refused", () => both(async function* (store) {
  for (const namespace of [[], [""], ["a.b"], ["langgraph"], ["a", ""], ["a:b"]]) yield await refusal(store.put(namespace, "k", {}));
  yield await refusal(store.batch([{ namespace: [], key: "k", value: {} }]));
  yield await refusal(store.search(["a.b"]));
  yield plain(await store.search([]));
}));

test("a query finds first what it is about", () => both(async function* (store) {
  await store.put(["memories", "mia"], "food", { text: "Mia loves pizza with mushrooms" });
  await store.put(["memories", "mia"], "work", { text: "The deployment window of checkout is Tuesday morning" });
  await store.put(["memories", "tom"], "food", { text: "Tom is allergic to peanuts" });
  for (const query of ["Which pizza does Mia love? mushrooms", "deployment window checkout", "allergic to peanuts"]) {
    const [best] = await store.search(["memories"], { query });
    yield plain([best!]);
    yield best!.score! > 0;
  }
  yield plain(await store.search(["memories", "tom"], { query: "allergic peanuts", filter: { text: "no such" } }));
}));

test("the node of a graph reads what another one wrote", async () => {
  const State = Annotation.Root({ name: Annotation<string>, greeting: Annotation<string> });
  const graph = new StateGraph(State)
    .addNode("write", async ({ name }, { store }: LangGraphRunnableConfig) => {
      await store!.put(["people"], "guest", { name });
      return {};
    })
    .addNode("read", async (_state, { store }: LangGraphRunnableConfig) => {
      return { greeting: `Hello ${(await store!.get(["people"], "guest"))?.value["name"]}` };
    })
    .addEdge(START, "write").addEdge("write", "read").addEdge("read", END)
    .compile({ store: new AnnalsStore(client, { root: root() }) });
  assert.equal((await graph.invoke({ name: "Mia" })).greeting, "Hello Mia");
});

test("of two that put a new key at once, none fails", async () => {
  const store = new AnnalsStore(client, { root: root() });
  await Promise.all([1, 2, 3, 4].map((x) => store.put(["race"], "k", { x })));
  assert.equal((await store.search(["race"])).length, 1);
});

test("what others wrote as plain text, or a secret that was taken out, does not break the store", async () => {
  const directory = root();
  const store = new AnnalsStore(client, { root: directory });
  await client.remember({ type: "definition", content: "not JSON", uri: `${directory}/n/k.json` });
  assert.deepEqual((await store.get(["n"], "k"))?.value, { content: "not JSON" });
  for (const name of ["n/k.md", "n/%.json", "k.json"]) await client.remember({ type: "definition", content: "of others", uri: `${directory}/${name}` });
  assert.equal((await store.search([])).length, 1);
  assert.deepEqual(await store.listNamespaces(), [["n"]]);
  await store.put(["n"], "s", { note: "the password", key: `sk-${"a1B2c3D4".repeat(6)}`, password: "hunter2-hunter2" });
  assert.equal((await store.get(["n"], "s"))?.value["note"], "the password");
  assert.equal(await refusal(store.put(["n"], "big", { text: "x".repeat(70_000) })), "AnnalsError");
  assert.equal(await store.get(["n"], "big"), null);
});

test("a put says what was removed", async (t) => {
  const said = t.mock.method(console, "warn", () => {});
  const store = new AnnalsStore(client, { root: root() });
  await store.put(["firm"], "office", { office: "13812345678" });
  await store.put(["firm"], "office", { office: "13812345678", mail: "jane@corp.com" });
  await store.put(["firm"], "office", { office: "on the third floor" });
  assert.match(said.mock.calls.map((call) => call.arguments.join(" ")).join("\n"), /^.*phone: 1\n.*email: 1, phone: 1$/);
});
