import { BaseStore, validateNamespace } from "@langchain/langgraph-checkpoint";
import type { Item, ListNamespacesOperation, Operation, OperationResults, PutOperation, SearchItem, SearchOperation } from "@langchain/langgraph-checkpoint";

import { AnnalsError, type Client, type Knowledge } from "./index.js";

export interface StoreOptions {
  /** Who may see the items. Default: only who the client's key is for. */
  scopes?: string[];
  /** The directory of the items. Default: viking://resources/langgraph. */
  root?: string;
}

const suffix = ".json"; // labels have no period, so no namespace has the name of a key

/**
 * A store of LangGraph whose items are items of Annals. The namespace and the key are the item's URI, the value is its
 * content. A query is a search of Annals: it returns what is about the query, at most 100 items.
 */
export class AnnalsStore extends BaseStore {
  readonly #root: string;

  constructor(
    private readonly client: Client,
    private readonly options: StoreOptions = {},
  ) {
    super();
    this.#root = options.root ?? "viking://resources/langgraph";
  }

  /** Reads first and writes then, of one key only what was put last, as InMemoryStore does. */
  async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const puts = new Map<string, PutOperation>();
    const results = await Promise.all(operations.map(async (operation) => {
      if ("namespacePrefix" in operation) return this.#search(operation);
      if (!("namespace" in operation)) return this.#namespaces(operation);
      validateNamespace(operation.namespace, { allowReservedRoot: true });
      if ("value" in operation) {
        puts.set(this.#uri(operation.namespace, operation.key), operation);
        return null;
      }
      const found = await this.#find(this.#uri(operation.namespace, operation.key));
      return (found && this.#item(found)) ?? null;
    }));
    for (const [uri, { value }] of puts) await this.#put(uri, value);
    return results as OperationResults<Op>;
  }

  #uri(namespace: string[], key?: string): string {
    const names = namespace.map(encodeURIComponent);
    return [this.#root, ...names, key === undefined ? "" : encodeURIComponent(key) + suffix].join("/");
  }

  /** Undefined if the store did not name it. */
  #item(found: Knowledge): Item | undefined {
    const names = namesOf(found.uri!.slice(this.#root.length + 1));
    if (!names) return undefined;
    return {
      value: valueOf(found.content),
      key: names.pop()!,
      namespace: names,
      createdAt: new Date(found.created_at!),
      updatedAt: new Date(found.updated_at!),
    };
  }

  async #find(uri: string): Promise<Knowledge | undefined> {
    for await (const found of this.client.list({ uri })) if (found.uri === uri) return found;
    return undefined;
  }

  async #put(uri: string, value: PutOperation["value"]): Promise<void> {
    const found = await this.#find(uri);
    if (value === null) {
      if (found) await this.client.forget(found.id!, "deleted from the store");
      return;
    }
    const content = JSON.stringify(value);
    if (found) {
      tell(uri, await this.client.revise(found.id!, { content }));
      return;
    }
    try {
      tell(uri, await this.client.remember({ uri, content, type: "definition", scopes: this.options.scopes }));
    } catch (error) {
      const rival = error instanceof AnnalsError && error.status === 409 && (await this.#find(uri));
      if (!rival) throw error;
      tell(uri, await this.client.revise(rival.id!, { content }));
    }
  }

  async #search({ namespacePrefix, query, filter = {}, limit = 10, offset = 0 }: SearchOperation): Promise<SearchItem[]> {
    const uri = this.#uri(namespacePrefix, undefined);
    const found: SearchItem[] = [];
    if (limit < 1) return found;
    for await (const [item, score] of query ? this.#about(query, uri) : this.#within(uri)) {
      const one = { ...this.#item(item), score } as SearchItem;
      if (one.key !== undefined && Object.entries(filter).every(([name, wanted]) => matches(one.value[name], wanted))) found.push(one);
      if (found.length === offset + limit) break;
    }
    return found.slice(offset);
  }

  async *#within(uri: string): AsyncGenerator<[Knowledge, undefined]> {
    for await (const item of this.client.list({ uri })) yield [item, undefined];
  }

  async *#about(query: string, uri: string): AsyncGenerator<[Knowledge, number]> {
    const { items } = await this.client.request("/v1/search", "post", {
      query: { min_position: this.client.position }, // so that what this client wrote can be found by its meaning
      body: { query, uri, limit: 100, order: "score", copies: true },
    });
    for (const { knowledge, score } of items) yield [knowledge, score];
  }

  async #namespaces({ matchConditions = [], maxDepth, limit, offset }: ListNamespacesOperation): Promise<string[][]> {
    const found = new Map<string, string[]>();
    for await (const item of this.client.list({ uri: this.#uri([]) })) {
      const namespace = this.#item(item)?.namespace;
      if (!namespace) continue;
      const fits = matchConditions.every(({ matchType, path }) => {
        const part = matchType === "prefix" ? namespace.slice(0, path.length) : namespace.slice(Math.max(0, namespace.length - path.length));
        return part.length === path.length && path.every((label, i) => label === "*" || label === part[i]);
      });
      const cut = namespace.slice(0, maxDepth);
      if (fits) found.set(cut.join(":"), cut);
    }
    const sorted = [...found.keys()].sort((a, b) => a.localeCompare(b));
    return sorted.slice(offset, offset + limit).map((name) => found.get(name)!);
  }
}

/** Warns of what the server removed, since the interface of a store has no answer to a put. */
function tell(uri: string, { redacted = {} }: Knowledge): void {
  const removed = Object.entries(redacted).map(([name, count]) => `${name}: ${count}`);
  if (removed.length) console.warn(`annals: removed from ${uri} before it was stored: ${removed.join(", ")}`);
}

function namesOf(path: string): string[] | undefined {
  try {
    const names = path.slice(0, -suffix.length).split("/").map(decodeURIComponent);
    return path.endsWith(suffix) && names.length > 1 ? names : undefined;
  } catch {
    return undefined;
  }
}

/** The value that an item is about. Somebody may have written it anew without this store. */
function valueOf(content: string): Record<string, any> {
  try {
    const value = JSON.parse(content);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // plain text
  }
  return { content };
}

const operators: Record<string, (value: any, wanted: any) => boolean> = {
  $eq: (value, wanted) => value === wanted,
  $ne: (value, wanted) => value !== wanted,
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: (value, wanted) => Array.isArray(wanted) && wanted.includes(value),
  $nin: (value, wanted) => !Array.isArray(wanted) || !wanted.includes(value),
};

function matches(value: unknown, wanted: any): boolean {
  const compares = typeof wanted === "object" && wanted !== null && Object.keys(wanted).every((name) => name in operators);
  return compares ? Object.entries(wanted).every(([name, bound]) => operators[name]!(value, bound)) : value === wanted;
}
