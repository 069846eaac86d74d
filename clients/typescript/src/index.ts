import type { components, paths } from "./openapi.js";

export type { components, paths };
export type Schemas = components["schemas"];
export type Knowledge = Schemas["Knowledge"];
export type Event = Schemas["Event"];

type Operation<P extends keyof paths, M extends keyof paths[P]> = paths[P][M];
type Parameters<O> = O extends { parameters: infer T } ? T : {};
type Body<O> = O extends { requestBody: { content: { "application/json": infer B } } }
  ? { body: B }
  : O extends { requestBody?: { content: { "application/json": infer B } } }
    ? { body?: B }
    : {};
type Json<R> = R extends { content: { "application/json": infer A } } ? A : undefined;
export type Answer<O> = O extends { responses: infer R } ? { [S in keyof R]: Json<R[S]> }[keyof R] : never;
export type Query<O> = O extends { parameters: { query?: infer Q } } ? NonNullable<Q> : never;
export type EventFilter = Query<paths["/v1/events"]["get"]>;

export interface ClientOptions {
  /** Default: ANNALS_SERVER, or http://127.0.0.1:1933. */
  url?: string;
  /** Default: ANNALS_KEY, unless ANNALS_SERVER names another scheme, host or port than url. */
  key?: string;
  /** Headers of every request, such as Annals-On-Behalf-Of. */
  headers?: Record<string, string>;
  /** The program that asks, such as my-agent/1.0. Receipts name it. */
  host?: string;
  /** The conversation in which it asks. Receipts name it. */
  session?: string;
  /** Milliseconds that a call may take with its repetitions; a stream, until it begins. Default: 30,000. */
  timeout?: number;
  /** How often a request is repeated that was answered with 429 or 503. Default: 2. */
  retries?: number;
}

export interface RequestOptions {
  signal?: AbortSignal;
  /** Default: a new one for each write, the same for its repetitions. */
  idempotencyKey?: string;
  headers?: Record<string, string>;
}

type Options<P extends keyof paths, M extends keyof paths[P]> = Parameters<Operation<P, M>> &
  Body<Operation<P, M>> &
  RequestOptions;
type Rest<O> = {} extends O ? [options?: O] : [options: O];

/** An answer that is not a success, or no answer: status is 0 then. It has every field of the server's problem. */
export class AnnalsError extends Error {
  override readonly name = "AnnalsError";
  readonly status: number;
  readonly title: string;
  readonly detail?: string;
  readonly fix?: string;
  /** Every bad field. */
  readonly errors: Schemas["BadField"][];

  constructor(
    readonly problem: Schemas["Problem"],
    cause?: unknown,
  ) {
    const fields = (problem.errors ?? []).map((bad) => `${bad.field} ${bad.message}`).join("; ");
    super([`${problem.title}${problem.detail ? `: ${problem.detail}` : ""}`, fields, problem.fix].filter(Boolean).join(". "), {
      cause,
    });
    ({ status: this.status, title: this.title, detail: this.detail, fix: this.fix } = problem);
    this.errors = problem.errors ?? [];
  }
}

const streamType = "text/event-stream";
const maxWait = 10_000; // milliseconds before a repetition
const silence = 60_000; // of a stream, whose server says something every 15 seconds
const reconnections = 30; // in a row
const lost = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]); // causes of a request that was perhaps sent

export class Client {
  readonly url: string;
  /** The newest position of the log that a write of this client returned. */
  position = 0;
  readonly #headers: Record<string, string>;
  readonly #timeout: number;
  readonly #retries: number;

  constructor(options: ClientOptions = {}) {
    const env = globalThis.process?.env ?? {};
    this.url = (options.url || env["ANNALS_SERVER"] || "http://127.0.0.1:1933").replace(/\/+$/, "");
    if (!/^https?:\/\/./.test(this.url) || !URL.canParse(this.url)) {
      throw new TypeError(`url must begin with http:// or https://, and not be ${this.url}`);
    }
    const own = !env["ANNALS_SERVER"] || origin(env["ANNALS_SERVER"]) === origin(this.url);
    const key = (options.key || (own && env["ANNALS_KEY"]) || "").trim();
    if (key && !/^[!-~]+$/.test(key)) throw new TypeError("key must consist of letters, digits and signs of ASCII");
    this.#headers = {
      ...(key && { Authorization: `Bearer ${key}` }),
      ...(options.host && { "Annals-Host": options.host }),
      ...(options.session && { "Annals-Session": options.session }),
      ...options.headers,
    };
    this.#timeout = options.timeout ?? 30_000;
    this.#retries = options.retries ?? 2;
  }

  /** Calls any operation of the API: request("/v1/knowledge/{id}", "get", { path: { id } }). */
  async request<P extends keyof paths, M extends keyof paths[P] & string>(
    path: P,
    method: M,
    ...[options]: Rest<Options<P, M>>
  ): Promise<Answer<Operation<P, M>>> {
    const given: { path?: object; query?: object; body?: unknown } & RequestOptions = options ?? {};
    const { response, text } = await this.#send(method.toUpperCase(), address(path, given.path, given.query), given);
    if (response.status === 204) return undefined as Answer<Operation<P, M>>;
    try {
      return JSON.parse(text!);
    } catch (cause) {
      throw failure(`${this.url} did not answer with JSON`, "Is it the address of an Annals server?", cause, response.status);
    }
  }

  remember(item: Knowledge, query?: Query<paths["/v1/knowledge"]["post"]>, options?: RequestOptions) {
    return this.request("/v1/knowledge", "post", { ...options, body: item, query });
  }

  search(query: string | Schemas["Search"], options?: RequestOptions) {
    return this.request("/v1/search", "post", { ...options, body: typeof query === "string" ? { query } : query });
  }

  /** What an agent needs to know at a stage of its work. */
  context(request: Schemas["ContextRequest"], options?: RequestOptions) {
    return this.request("/v1/context", "post", { ...options, body: request });
  }

  find(id: string, options?: RequestOptions) {
    return this.request("/v1/knowledge/{id}", "get", { ...options, path: { id } });
  }

  feedback(id: string, vote: Schemas["Vote"], options?: RequestOptions) {
    return this.request("/v1/knowledge/{id}/feedback", "post", { ...options, path: { id }, body: vote });
  }

  stale(id: string, reason: string, options?: RequestOptions) {
    return this.request("/v1/knowledge/{id}/stale", "post", { ...options, path: { id }, body: { reason } });
  }

  revise(id: string, patch: Schemas["Patch"], options?: RequestOptions) {
    return this.request("/v1/knowledge/{id}", "patch", { ...options, path: { id }, body: patch });
  }

  forget(id: string, reason: string, options?: RequestOptions) {
    return this.request("/v1/knowledge/{id}", "delete", { ...options, path: { id }, body: { reason } });
  }

  /** The items that pass the filter, the newest first, page by page. */
  async *list(filter: Query<paths["/v1/knowledge"]["get"]> = {}, options?: RequestOptions): AsyncGenerator<Knowledge> {
    yield* this.#pages(filter.cursor, (cursor) =>
      this.request("/v1/knowledge", "get", { ...options, query: { limit: 100, ...filter, cursor } }));
  }

  /** The events of an item, the oldest first. */
  async *history(id: string, options?: RequestOptions): AsyncGenerator<Event> {
    yield* this.#pages(undefined, (cursor) =>
      this.request("/v1/knowledge/{id}/history", "get", { ...options, path: { id }, query: { limit: 100, cursor } }));
  }

  /** The events that pass the filter. With follow: also those that are yet to come, without end. */
  async *events(filter: EventFilter = {}, options: RequestOptions & { follow?: boolean } = {}): AsyncGenerator<Event> {
    if (options.follow) return yield* this.#follow(filter, options);
    yield* this.#pages(filter.cursor, (cursor) =>
      this.request("/v1/events", "get", { ...options, query: { limit: 100, ...filter, cursor } }));
  }

  async *#pages<T>(cursor: string | undefined, read: (cursor?: string) => Promise<{ items: T[]; next_cursor?: string }>) {
    for (const seen = new Set<string>(); ; seen.add(cursor)) {
      const page = await read(cursor);
      yield* page.items;
      cursor = page.next_cursor;
      if (cursor === undefined) return;
      if (seen.has(cursor)) throw failure(`${this.url} repeats a cursor: the list has no end`, undefined, undefined, 200);
    }
  }

  /** Follows a stream, and continues after its last event when the connection is lost. */
  async *#follow(filter: EventFilter, options: RequestOptions): AsyncGenerator<Event> {
    let last: string | undefined;
    let connected = false;
    for (let failures = 0; ; failures++) {
      try {
        const query = last ? { ...filter, after: undefined } : filter;
        const quiet = new AbortController();
        const headers = { ...options.headers, ...(last && { "Last-Event-ID": last }), Accept: streamType };
        const { response } = await this.#send("GET", address("/v1/events", {}, query), { headers, signal: either(quiet, options) });
        connected = true;
        for await (const message of messages(response.body!, quiet)) {
          if (message["event"] === "closed") throw new AnnalsError(JSON.parse(message["data"]!));
          failures = 0;
          last = message["id"] ?? last;
          yield JSON.parse(message["data"]!);
        }
      } catch (error) {
        options.signal?.throwIfAborted();
        const lost = !(error instanceof AnnalsError) || error.status === 0 || error.status > 500;
        if (!connected || !lost || failures >= reconnections) throw error;
      }
      await sleep(2000, options.signal);
    }
  }

  /** Sends a request, again if the server asks for it. The text of a stream is left to be read. */
  async #send(method: string, target: string, given: { body?: unknown } & RequestOptions) {
    const headers: Record<string, string> = { Accept: "application/json", ...this.#headers, ...given.headers };
    if (given.body !== undefined) headers["Content-Type"] = "application/json";
    if (method !== "GET") headers["Idempotency-Key"] = given.idempotencyKey ?? crypto.randomUUID();
    const deadline = Date.now() + this.#timeout;
    for (let attempt = 0; ; attempt++) {
      const { response, text } = await this.#attempt(method, target, headers, given, deadline);
      if (response.ok) {
        this.position = Math.max(this.position, Number(response.headers.get("Annals-Position")));
        return { response, text };
      }
      const wait = milliseconds(response.headers.get("Retry-After")) ?? 500 * 2 ** attempt;
      if (![429, 503].includes(response.status) || attempt >= this.#retries || wait > Math.min(maxWait, deadline - Date.now())) {
        throw problem(response, text!);
      }
      await sleep(wait, given.signal);
    }
  }

  async #attempt(
    method: string,
    target: string,
    headers: Record<string, string>,
    given: { body?: unknown } & RequestOptions,
    deadline: number,
  ) {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), deadline - Date.now());
    let answered = false;
    try {
      const body = given.body === undefined ? undefined : JSON.stringify(given.body);
      const signal = either(late, given);
      const response = await fetch(this.url + target, { method, headers, body, signal, redirect: "manual" });
      answered = true;
      const text = response.ok && headers["Accept"] === streamType ? undefined : await response.text();
      return { response, text };
    } catch (cause) {
      given.signal?.throwIfAborted();
      if (late.signal.aborted) throw failure(`${this.url} did not answer within ${this.#timeout} ms`, undefined, cause);
      if (answered || lost.has((cause as { cause?: { code?: string } }).cause?.code ?? "")) {
        const fix = "Look whether it was, or send it again with the same idempotencyKey";
        throw failure(`The connection to ${this.url} was lost: the request may have been executed`, fix, cause);
      }
      const why = cause instanceof Error && cause.cause instanceof Error ? ` (${cause.cause.message || cause.cause.name})` : "";
      throw failure(`No server answers at ${this.url}${why}`, "Start it with: annals serve. ANNALS_SERVER names another address", cause);
    } finally {
      clearTimeout(timer);
    }
  }
}

/** The scheme, host and port of an address; undefined for what is none. */
function origin(url: string): string | undefined {
  return URL.canParse(url) ? new URL(url).origin : undefined;
}

function either(own: AbortController, { signal }: RequestOptions): AbortSignal {
  return signal ? AbortSignal.any([own.signal, signal]) : own.signal;
}

function failure(title: string, fix: string | undefined, cause: unknown, status = 0) {
  return new AnnalsError({ type: "about:blank", title, status, fix }, cause);
}

/** What a response says that is not a success, also if a proxy wrote it. */
function problem(response: Response, text: string): AnnalsError {
  try {
    const said = JSON.parse(text);
    if (typeof said.title === "string" && typeof said.status === "number") return new AnnalsError(said);
  } catch {
    // not the server's own words
  }
  const title = `${response.status} ${response.statusText}`.trim();
  const to = response.headers.get("Location");
  let detail = text.slice(0, 200);
  if (response.status >= 300 && response.status < 400 && to !== null && URL.canParse(to, response.url)) {
    const { origin, pathname } = new URL(to, response.url); // its query may be secret
    detail = `it redirects to ${origin}${pathname}`;
  }
  return new AnnalsError({ type: "about:blank", title, status: response.status, detail });
}

function address(path: string, names: object = {}, query: object = {}): string {
  for (const [name, value] of Object.entries(names)) path = path.replace(`{${name}}`, encodeURIComponent(value));
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) search.append(name, String(one));
  }
  return search.size > 0 ? `${path}?${search}` : path;
}

/** The messages of server-sent events. The stream is given up when it is quiet for too long. */
async function* messages(body: ReadableStream<Uint8Array>, quiet: AbortController) {
  const decoder = new TextDecoder();
  let text = "";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const listen = () => { clearTimeout(timer); timer = setTimeout(() => quiet.abort(), silence); };
  try {
    listen();
    for await (const chunk of body) {
      listen();
      const frames = (text + decoder.decode(chunk, { stream: true })).split("\n\n");
      text = frames.pop()!;
      for (const frame of frames) {
        const message: Record<string, string> = {};
        for (const [, name, value] of frame.matchAll(/^(\w+): (.*)$/gm)) message[name!] = value!;
        if (message["data"]) yield message;
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** The value of Retry-After: seconds, or a date. */
function milliseconds(value: string | null): number | undefined {
  const wait = value === null ? NaN : /^\d+$/.test(value.trim()) ? 1000 * Number(value) : Date.parse(value) - Date.now();
  return Number.isNaN(wait) ? undefined : Math.max(wait, 0);
}

function sleep(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => { clearTimeout(timer); reject(signal!.reason); };
    const timer = setTimeout(() => { signal?.removeEventListener("abort", stop); resolve(); }, milliseconds);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}
