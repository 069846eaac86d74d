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
    const hash = await recordHash(record);
    return [hash === said.hash, hash];
  },
  repeated: async () => none(differences(said, record, // nothing is added
    ["event_id", "stream", "position", ...Object.keys(record).filter((name) => !FIELDS.includes(name))])),
  path: async () => {
    const { size, root } = parse(checkpoint.note), rest = [...path];
    const leaf = await sha256([0], Uint8Array.fromHex(said.hash));
    const all = (await roots(record.position, size, rest, leaf, true))[1].toBase64();
    return [!rest.length && all === root, all];
  },
  checkpoint: async () => none(differences({ ...checkpoint, tenant: record.tenant }, parse(checkpoint.note),
    ["origin", "size", "root", "tenant"])),
  key: async () => [true, (await open(key)).id],
  signature: () => signed(checkpoint.note, key),
});

// Verifies with the path of GET /v1/log/consistency that a checkpoint continues an earlier one.
export const consistency = (earlier, later, path, key) => run({
  earlier: () => signed(earlier, key),
  later: () => signed(later, key),
  origin: async () => none(differences(parse(earlier), parse(later), ["origin"])),
  size: async () => [parse(earlier).size <= parse(later).size, ""],
  path: async () => {
    const from = parse(earlier), to = parse(later), rest = [...path];
    if (!from.size) return [true, to.root];
    const [part, all] = await roots(from.size, to.size, rest, unbase64(from.root));
    return [!rest.length && part.toBase64() === from.root && all.toBase64() === to.root, all.toBase64()];
  },
});
