// The page of a receipt: it verifies with WebCrypto that the receipt was sealed, and that the signed log has the seal.

const seal = document.getElementById("seal"), { dataset } = seal, steps = seal.querySelector("ol");
const unbase64 = (text) => Uint8Array.fromBase64(text, { lastChunkHandling: "strict" });
const sha256 = async (...parts) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", Uint8Array.from(parts.flatMap((part) => [...part]))));

// The root that a path of RFC 6962 leads to from a leaf.
async function rootOf(hash, index, count, path) {
  let last = count - 1;
  for (const sibling of path) {
    if (index & 1 || index === last) {
      hash = await sha256([1], sibling, hash);
      while (!(index & 1) && index) [index, last] = [index >> 1, last >> 1];
    } else {
      hash = await sha256([1], hash, sibling);
    }
    [index, last] = [index >> 1, last >> 1];
  }
  return last === 0 ? hash : null;
}

function mark(name, ok) {
  const badge = steps.querySelector(`[data-step="${name}"] .badge`);
  badge.className = ok === undefined ? "badge warn" : ok ? "badge good" : "badge bad";
  badge.textContent = ok === undefined ? dataset.skipped : ok ? dataset.good : dataset.bad;
  return ok;
}

function say(text, tone) {
  const verdict = document.getElementById("verdict");
  verdict.textContent = text;
  verdict.className = "badge " + tone;
}

async function verify() {
  const verifier = await import(dataset.verifier);
  const response = await fetch("/console/data/v1/log/proof/" + dataset.event);
  if (!response.ok) return say(dataset.unreadable, "warn");
  const answer = await response.json();
  const data = JSON.parse(answer.record.data), key = localStorage.getItem("annals log key") ?? "";
  const leaf = await sha256([0], new TextEncoder().encode(dataset.record)), path = dataset.path.split(" ").filter(Boolean);
  const root = await rootOf(leaf, +dataset.index, +dataset.count, path.map(unbase64));
  const log = await verifier.inclusion(answer, key), passed = (...names) => log.every(({ name, ok }) => ok || !names.includes(name));
  steps.hidden = false;
  const all = [
    mark("leaf", leaf.toBase64() === dataset.leaf),
    mark("path", root?.toBase64() === dataset.root),
    mark("event", data.root === dataset.root && data.count === +dataset.count && answer.record.name === "receipts.sealed"),
    mark("inclusion", passed("record", "repeated", "path", "checkpoint")),
    mark("signature", key ? passed("key", "signature") : undefined),
  ];
  if (all.includes(false)) say(dataset.refuted, "bad");
  else if (all.includes(undefined)) say(dataset.keyless, "warn");
  else say(dataset.verified, "good");
}

const able = globalThis.crypto?.subtle && Uint8Array.fromBase64 &&
  await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]).then(() => true, () => false);
if (able) await verify().catch(() => say(dataset.refuted, "bad"));
else say(dataset.unable, "warn");
