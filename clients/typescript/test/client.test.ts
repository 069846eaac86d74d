import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import { AnnalsError, Client } from "../src/index.js";

const annals = new Client();
const word = () => `w${crypto.randomUUID().replaceAll("-", "")}`;

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found = [];
  for await (const item of items) found.push(item);
  return found;
}

/** Answers requests one after the other, as if it were the server, until the test ends. */
async function stub(t: { after(end: () => void): void }, ...answers: ((request: IncomingMessage, response: ServerResponse) => void)[]) {
  const seen: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    answers[Math.min(seen.push(request), answers.length) - 1]!(request, response);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.after(() => { server.closeAllConnections(); server.close(); });
  return { seen, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const busy = (status: number, after: string) => (_: IncomingMessage, response: ServerResponse) => {
  response.writeHead(status, { "Retry-After": after, "Content-Type": "application/problem+json" });
  response.end(JSON.stringify({ type: "urn:annals:problem:busy", title: "busy", status }));
};
const found = (_: IncomingMessage, response: ServerResponse) => { response.end('{"items":[]}'); };

test("an item is remembered, found, judged, revised and forgotten", async () => {
  const about = word();
  const item = await annals.remember({ type: "strategy", content: `Retry ${about} with jitter`, task: "calling rate-limited APIs" });
  const id = item.id!;
  const { items } = await annals.search({ query: about, limit: 1 });
  assert.equal(items[0]?.knowledge.id, id);
  const { injection } = await annals.context({ stage: "query", query: about });
  assert.match(injection, new RegExp(about));
  assert.equal((await annals.feedback(id, { verdict: "helpful", outcome: "calls went through" })).eval?.helpful, 2);
  assert.equal((await annals.stale(id, "the gateway retries now")).stale?.reporters, 1);
  assert.equal((await annals.revise(id, { content: `Do not retry ${about}`, reason: "it does" })).revision, 2);
  assert.equal((await annals.find(id)).content, `Do not retry ${about}`);
  assert.deepEqual((await all(annals.list({ id: [id] }))).map((one) => one.id), [id]);
  assert.equal(await annals.forget(id, "tried"), undefined);
  const names = (await all(annals.history(id))).map((event) => event.name);
  assert.deepEqual(names, ["knowledge.remembered", "knowledge.found_helpful", "knowledge.reported_stale", "knowledge.revised", "knowledge.deleted"]);
  assert.ok(annals.position > 0);
});

test("an error has every bad field, and what to do", async () => {
  const refused = await annals.remember({ type: "strategy", content: "", owner: "nobody", scopes: ["x"] }).catch((error: unknown) => error);
  assert.ok(refused instanceof AnnalsError);
  assert.equal(refused.status, 422);
  assert.deepEqual(refused.errors.map((bad) => bad.field).sort(), ["content", "owner", "scopes[0]"]);
  for (const bad of refused.errors) assert.ok(refused.message.includes(`${bad.field} ${bad.message}`));
  const missing = await annals.find("not-there").catch((error: unknown) => error);
  assert.ok(missing instanceof AnnalsError);
  assert.equal(missing.status, 404);
  const stranger = new Client({ key: "annals_wrong" });
  await assert.rejects(stranger.search("x"), (error: AnnalsError) => error.status === 401 && error.fix !== undefined);
});

test("a write is repeated without effect under its key", async () => {
  const about = word();
  const idempotencyKey = crypto.randomUUID();
  const first = await annals.remember({ type: "strategy", content: about }, {}, { idempotencyKey });
  assert.equal((await annals.remember({ type: "strategy", content: about }, {}, { idempotencyKey })).id, first.id);
});

test("any operation can be called", async () => {
  const { items } = await annals.request("/v1/knowledge", "get", { query: { limit: 1, type: ["strategy"] } });
  assert.ok(items.length <= 1);
  assert.ok((await annals.request("/v1/whoami", "get")).subject);
});

test("events are read in pages, and followed", { timeout: 60_000 }, async () => {
  const start = annals.position;
  const kept = [];
  for (let i = 0; i < 3; i++) kept.push((await annals.remember({ type: "strategy", content: word() })).id);
  const read = await all(annals.events({ after: start, order: "asc", limit: 2, name: ["knowledge.remembered"] }));
  assert.deepEqual(read.map((event) => event.stream), kept.map((id) => `knowledge:${id}`));
  const late = annals.remember({ type: "strategy", content: "偏好 late" });
  const followed = [];
  for await (const event of annals.events({ after: start }, { follow: true })) {
    if (event.name === "knowledge.remembered" && followed.push(event) === 4) break;
  }
  assert.equal(followed[3]!.stream, `knowledge:${(await late).id}`);
  const stop = new AbortController();
  const endless = annals.events({ trace_id: word() }, { follow: true, signal: stop.signal });
  setTimeout(() => stop.abort(), 100);
  await assert.rejects(endless.next(), { name: "AbortError" });
});

test("a stream that breaks off continues after its last event", { timeout: 60_000 }, async (t) => {
  const send = (id: string) => (_: IncomingMessage, response: ServerResponse) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    response.write(`retry: 2000\n: following\n\nid: ${id}\nda`);
    setTimeout(() => response.write(`ta: {"event_id":"${id}"}\n\n`), 50);
    setTimeout(() => response.destroy(), 100);
  };
  const { seen, url } = await stub(t, send("a"), busy(503, "0"), send("b"));
  const ids = [];
  for await (const event of new Client({ url }).events({ after: 7 }, { follow: true })) {
    if (ids.push(event.event_id) === 2) break;
  }
  assert.deepEqual(ids, ["a", "b"]);
  assert.equal(seen[0]!.url, "/v1/events?after=7");
  assert.equal(seen[2]!.headers["last-event-id"], "a");
});

test("a busy server is asked again with the same key, not for ever and not after long", async (t) => {
  const patient = await stub(t, busy(429, "0"), busy(503, "0"), found);
  await new Client({ url: patient.url }).search("x");
  assert.equal(new Set(patient.seen.map((request) => request.headers["idempotency-key"])).size, 1);
  const never = await stub(t, busy(429, "0"));
  await assert.rejects(new Client({ url: never.url, retries: 1 }).search("x"), { status: 429 });
  assert.equal(never.seen.length, 2);
  const tomorrow = await stub(t, busy(503, "86400"));
  await assert.rejects(new Client({ url: tomorrow.url }).search("x"), { status: 503 });
  assert.equal(tomorrow.seen.length, 1);
});

test("a busy server may name a date", async (t) => {
  const inSeconds = (n: number) => new Date(Date.now() + 1000 * n).toUTCString();
  const dated = await stub(t, busy(503, inSeconds(2)), found);
  const began = Date.now();
  await new Client({ url: dated.url }).search("x");
  assert.ok(Date.now() - began > 500);
  assert.equal(dated.seen.length, 2);
  const later = await stub(t, busy(503, inSeconds(5)));
  await assert.rejects(new Client({ url: later.url, timeout: 1000 }).search("x"), { status: 503 });
});

test("a list whose cursor repeats ends with an error", async (t) => {
  const endless = await stub(t, (_, response) => { response.end('{"items":[{"id":"a"}],"next_cursor":"same"}'); });
  await assert.rejects(all(new Client({ url: endless.url }).list()), { message: /repeats a cursor/ });
  assert.equal(endless.seen.length, 2);
});

test("no answer is one clear error", async (t) => {
  const closed = createServer().listen(0, "127.0.0.1");
  await once(closed, "listening");
  const url = `http://127.0.0.1:${(closed.address() as AddressInfo).port}`;
  await new Promise((end) => closed.close(end));
  const gone = new Client({ url });
  await assert.rejects(gone.search("x"), (error: AnnalsError) =>
    error.status === 0 && error.message.startsWith(`No server answers at ${url} (connect ECONNREFUSED`) && error.fix!.includes("annals serve"));
  await assert.rejects(gone.events({}, { follow: true }).next(), { status: 0 });
  for (const url of ["localhost:1933", "http://", "http://x:port"]) assert.throws(() => new Client({ url }), /url must begin with http/);
  assert.throws(() => new Client({ key: "annals_\u{1f511}" }), (error: Error) => !error.message.includes("annals_"));
  const silent = await stub(t, () => {});
  await assert.rejects(new Client({ url: silent.url, timeout: 100 }).search("x"), { status: 0, message: /did not answer within 100 ms/ });
  await assert.rejects(new Client({ url: silent.url }).search("x", { signal: AbortSignal.timeout(50) }), { name: "TimeoutError" });
  const half = await stub(t, (_, response) => { response.write('{"items":'); });
  await assert.rejects(new Client({ url: half.url, timeout: 100 }).search("x"), { message: /did not answer within 100 ms/ });
  for (const begin of [() => {}, (response: ServerResponse) => { response.writeHead(200, { "Content-Length": "9" }).write("{"); }]) {
    const lost = await stub(t, (_, response) => { begin(response); setTimeout(() => response.destroy(), 50); });
    await assert.rejects(new Client({ url: lost.url }).search("x"), { status: 0, message: /may have been executed.*idempotencyKey/ });
  }
});

test("an answer of somebody else is named as such", async (t) => {
  const proxy = await stub(t, (_, response) => { response.writeHead(502).end("<h1>Bad gateway</h1>"); });
  await assert.rejects(new Client({ url: proxy.url }).search("x"), { status: 502, message: "502 Bad Gateway: <h1>Bad gateway</h1>" });
  const site = await stub(t, (_, response) => { response.end("<html>"); });
  await assert.rejects(new Client({ url: site.url }).search("x"), { message: /did not answer with JSON.*address of an Annals server/ });
  const elsewhere = await stub(t, (_, response) => { response.writeHead(307, { Location: "http://127.0.0.1:1/login?token=secret" }).end(); });
  await assert.rejects(new Client({ url: elsewhere.url }).search("x"), {
    status: 307, message: "307 Temporary Redirect: it redirects to http://127.0.0.1:1/login",
  });
});

test("a key of the environment goes to the server there", async (t) => {
  const { ANNALS_SERVER, ANNALS_KEY } = process.env;
  t.after(() => Object.assign(process.env, { ANNALS_SERVER, ANNALS_KEY }));
  process.env["ANNALS_KEY"] = "of-that-server";
  for (const [there, sent] of [["http://127.0.0.1:1", false], ["https://127.0.0.1", false], ["", true], ["{}/base", true]] as const) {
    const server = await stub(t, found);
    process.env["ANNALS_SERVER"] = there.replace("{}", server.url);
    await new Client({ url: server.url }).search("x");
    await new Client({ url: server.url, key: "its-own" }).search("x");
    assert.deepEqual(server.seen.map((one) => one.headers.authorization), [sent ? "Bearer of-that-server" : undefined, "Bearer its-own"], there);
  }
});
