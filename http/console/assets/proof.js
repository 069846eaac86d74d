// Verifies proofs with WebCrypto: docs/proof.md defines every byte.
// It returns steps {name, ok, detail}. A detail is a computed value or names.

export const FIELDS = `tenant position event_id stream version name schema_version recorded_at occurred_at actor
on_behalf_of authentication request_id correlation_id causation_id traceparent reason_code data text_commitment`
.split(/\s/);

const need = (ok) => { if (!ok) throw Error(); };
const utf8 = (text) => new TextEncoder().encode(text);
const unbase64 = (text) => Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
const join = (parts) => Uint8Array.from(parts.flatMap((part) => [...part]));
const sha256 = async (...parts) => new Uint8Array(await crypto.subtle.digest("SHA-256", join(parts)));
const node = (left, right) => sha256([1], left, right);

// The bytes of a record that are hashed.
export function canonical(record) {
  const parts = [utf8("annals event 1\n")];
  for (const name of FIELDS) {
    const value = record[name] ?? "";
    need(typeof value !== "object");
    const bytes = name === "text_commitment" ? Uint8Array.fromHex(value) : utf8(value);
    const length = Uint8Array.fromHex(bytes.length.toString(16).padStart(16, 0));
    parts.push(...name in record ? [[1], length, bytes] : [[0]]);
  }
  return join(parts);
}
const leafOf = (hash) => sha256([0], Uint8Array.fromHex(hash));
export const recordHash = async (record) => (await sha256(canonical(record))).toHex();

// The roots of the first m of n leaves, and of all, by a path of RFC 6962 and the hash of leaf m, or of the first m.
async function roots(m, n, path, hash, leaf) {
  if (m === n && (n === 1 || !leaf)) return Array(2).fill(hash || unbase64(path.pop()));
  let k = 1;
  while (2 * k < n) k *= 2;
  const sibling = unbase64(path.pop()), left = m <= k;
  const [part, all] = await (left ? roots(m, k, path, hash, leaf) : roots(m - k, n - k, path, leaf && hash, leaf));
  return left ? [part, await node(all, sibling)] : [await node(sibling, part), await node(sibling, all)];
}

// Reads a checkpoint without verifying it.
export function parse(note) {
  const [origin, size, root, blank, ...lines] = note.split("\n");
  need(!blank && `${+size}` === size);
  return { origin, size: +size, root, lines, tenant: origin.split("/").pop(), text: `${origin}\n${size}\n${root}\n` };
}

async function open(key) {
  const [, id, name, sum, text] = /^(([^+]+)\+(.{8}))\+(.+)$/.exec(key.trim()), bytes = unbase64(text);
  need(bytes[0] === 1 && (await sha256(utf8(name + "\n"), bytes)).toHex().startsWith(sum));
  return { id, name, sum, bytes: bytes.slice(1) };
}

async function signed(note, key) {
  const { text, origin, lines } = parse(note), { id, name, sum, bytes } = await open(key);
  const signature = unbase64(lines.find((line) => line.startsWith(`— ${name} `)).split(" ")[2]);
  need(origin.startsWith(name + "/") && signature.toHex().startsWith(sum));
  const verifier = await crypto.subtle.importKey("raw", bytes, "Ed25519", false, ["verify"]);
  return [await crypto.subtle.verify("Ed25519", verifier, signature.slice(4), utf8(text)), id];
}

async function run(checks) {
  const steps = [];
  for (const name in checks) {
    const [ok, detail] = await checks[name]().catch(() => [false, ""]);
    steps.push({ name, ok, detail });
  }
  return steps;
}

export const differences = (a, b, names = FIELDS) => names.filter((name) => a[name] !== b[name]);
const none = (names) => [!names.length, names.join(" ")];

// Verifies an answer of GET /v1/log/proof/{event_id}.
export const inclusion = ({ record, path, checkpoint, ...said }, key) => run({
  record: async () => {
    const hash = await recordHash(record), sealed = !("text" in record) || await seal(record) === record.text_commitment;
    return [hash === said.hash && sealed, hash];
  },
  repeated: async () => none(differences(said, record, // nothing is added
    ["event_id", "stream", "position", ...Object.keys(record).filter((name) => ![...FIELDS, "text", "salt"].includes(name))])),
  path: async () => {
    const { size, root } = parse(checkpoint.note), rest = [...path], leaf = (await leafOf(said.hash)).toBase64();
    const signed = said.leaf || leaf; // of a rewritten event, the path begins at the leaf that was signed
    const all = (await roots(record.position, size, rest, unbase64(signed), true))[1].toBase64(), leads = !rest.length && all === root;
    return [leads && leaf === signed, leads && leaf !== signed ? `${leaf} ≠ ${signed}` : all];
  },
  checkpoint: async () => none(differences({ ...checkpoint, tenant: record.tenant }, parse(checkpoint.note),
    ["origin", "size", "root", "tenant"])),
  key: async () => [true, (await open(key)).id],
  signature: () => signed(checkpoint.note, key),
});

// Verifies the proofs of a report of GET /v1/reports/known. A detail is the positions that do not pass.
export async function reported({ proofs }, key) {
  const versions = {}, rows = [];
  for (const proof of proofs) {
    const { stream, version } = proof.record ?? proof, count = versions[stream] = (versions[stream] ?? 0) + 1;
    rows.push([{ name: "whole", ok: !version || version === count }, ...await inclusion(proof, key)]);
  }
  return rows[0].map(({ name }, i) => {
    const failed = proofs.filter((_, row) => !rows[row][i].ok).map(({ position }) => position);
    return { name, ok: !failed.length, detail: failed.slice(0, 9).join(" ") };
  });
}

// The root of a tree that begins with complete subtrees and goes on with the leaves of records.
async function rootOf(size, before, records) {
  const trees = [];
  for (const hash of before) {
    const part = 2 ** Math.floor(Math.log2(size));
    trees.push([part, unbase64(hash)]);
    size -= part;
  }
  for (const { hash } of records) {
    let part = 1, top = await leafOf(hash);
    for (; trees.at(-1)?.[0] === part; part *= 2) top = await node(trees.pop()[1], top);
    trees.push([part, top]);
  }
  let [, root] = trees.pop();
  while (trees.length) root = await node(trees.pop()[1], root);
  return root.toBase64();
}

async function grows(from, to, path) {
  const rest = [...path], [part, all] = await roots(from.size, to.size, rest, unbase64(from.root));
  return [!rest.length && part.toBase64() === from.root && all.toBase64() === to.root, all.toBase64()];
}

// The commitment to a text.
export async function seal({ salt, text }) {
  const key = await crypto.subtle.importKey("raw", Uint8Array.fromHex(salt), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return new Uint8Array(await crypto.subtle.sign("HMAC", key, utf8(text))).toHex();
}

// The positions of the records that do not pass.
async function failing(records, passes) {
  const failed = [];
  for (const record of records) if (!await passes(record).catch(() => false)) failed.push(record.position);
  return none(failed.slice(0, 9));
}

// Verifies a file of annals export log.
export function exported(file, key) {
  const lines = file.trim().split("\n").map((line) => JSON.parse(line)), { manifest } = lines.at(-1), records = lines.slice(0, -1);
  const { after, through, count, root, checkpoint } = manifest ?? {};
  return run({
    whole: async () => [manifest.format === "annals log 1" && records.length === count && count === through - after &&
      records.every(({ position, tenant }, i) => position === after + i + 1 && tenant === manifest.tenant), `${after + 1}–${through}`],
    record: () => failing(records, async (record) => await recordHash(record) === record.hash),
    text: () => failing(records, async (record) => !("text" in record) || await seal(record) === record.text_commitment),
    root: async () => {
      const all = await rootOf(after, manifest.before, records);
      return [all === root, all];
    },
    checkpoint: async () => {
      const to = parse(checkpoint), [ok, detail] = await grows({ size: through, root }, to, manifest.consistency);
      return [ok && to.tenant === manifest.tenant, detail];
    },
    key: async () => [true, (await open(key)).id],
    signature: () => signed(checkpoint, key),
  });
}

// Verifies with the path of GET /v1/log/consistency that a checkpoint continues an earlier one.
export const consistency = (earlier, later, path, key) => run({
  earlier: () => signed(earlier, key),
  later: () => signed(later, key),
  origin: async () => none(differences(parse(earlier), parse(later), ["origin"])),
  size: async () => [parse(earlier).size <= parse(later).size, ""],
  path: async () => {
    const from = parse(earlier), to = parse(later);
    return from.size ? grows(from, to, path) : [true, to.root];
  },
});
