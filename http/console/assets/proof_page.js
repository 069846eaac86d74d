// The page /console/proof: it asks the server, reads files and shows what proof.js finds. All texts are in the page.

const remembered = "annals log key";
const find = (id) => document.getElementById(id);
const show = (id, visible) => { find(id).hidden = !visible; };

async function read(path) {
  const answer = await fetch(new URL("../data/v1/" + path, import.meta.url));
  const body = JSON.parse((await answer.text()).split("\n")[0]); // an export has more lines
  if (!answer.ok) throw Object.assign(new Error(body.detail || body.title), { status: answer.status });
  return body;
}

// able tells whether this browser has what proof.js needs. Browsers offer WebCrypto only over TLS and on localhost.
const able = async () => Boolean(globalThis.crypto?.subtle && Uint8Array.fromHex) &&
  crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]).then(() => true, () => false);

// changed looks for the one byte whose replacement explains a wrong hash, or a wrong leaf of the tree, by trying. It
// returns {field, was}, or undefined if more was changed.
export async function changed({ FIELDS, canonical }, record, hash, leaf) {
  const sha256 = (bytes) => crypto.subtle.digest("SHA-256", bytes); // which copies them
  const sum = leaf ? (bytes) => sha256(bytes).then((hash) => sha256(Uint8Array.of(0, ...new Uint8Array(hash)))) : sha256;
  const wanted = leaf ? Uint8Array.fromBase64(leaf).toHex() : hash;
  const bytes = canonical(record), all = Array.from({ length: 256 }, (_, i) => i), printable = all.slice(32, 127);
  let at = "annals event 1\n".length;
  for (const field of FIELDS) {
    if (bytes[at++] === 0) continue; // absent
    const sealed = field === "text_commitment", values = sealed ? all : printable;
    const start = at + 8, end = start + Number(new DataView(bytes.buffer).getBigUint64(at));
    for (at = start; at < end; at++) {
      const now = bytes[at];
      const hashes = await Promise.all(values.map((value) => {
        bytes[at] = value;
        return sum(bytes);
      }));
      const found = hashes.findIndex((digest) => new Uint8Array(digest).toHex() === wanted);
      bytes[at] = found < 0 ? now : values[found];
      const was = bytes.slice(start, end);
      if (found >= 0) return { field, was: sealed ? was.toHex() : new TextDecoder().decode(was) };
    }
  }
}

function showSteps(id, steps) {
  const list = find(id), good = steps.every((step) => step.ok), keyless = !find("key").value.trim();
  list.hidden = false;
  for (const { name, ok, detail } of steps) {
    const entry = list.querySelector(`[data-step="${name}"]`), badge = entry.querySelector(".badge");
    const skipped = !ok && keyless && keyed.includes(name);
    badge.className = ok ? "badge good" : skipped ? "badge warn" : "badge bad";
    badge.textContent = ok ? list.dataset.good : skipped ? find("proof").dataset.skipped : list.dataset.bad;
    entry.querySelector("code").textContent = detail;
    entry.querySelector("code").hidden = !detail;
    entry.querySelector(".error").hidden = ok || skipped;
  }
  const unsigned = keyless && steps.every((step) => step.ok || keyed.includes(step.name));
  if (unsigned) say(find("proof").dataset.keyless, "warn");
  else say(good ? list.dataset.verified : list.dataset.refuted, good ? "good" : "bad");
}

// keyed are the steps that fail without a key.
const keyed = ["key", "signature", "earlier", "later"];

function say(text, badge) {
  find("verdict").textContent = text;
  find("verdict").className = "badge " + badge;
}

function showRecord({ FIELDS }, proof) {
  const table = find("record"), rows = table.tBodies[0];
  rows.replaceChildren(...FIELDS.map((name) => {
    const row = document.createElement("tr"), head = document.createElement("th"), cell = document.createElement("td");
    head.scope = "row";
    head.textContent = name;
    cell.textContent = proof.record[name] ?? table.dataset.absent;
    if (!(name in proof.record)) cell.className = "quiet";
    row.append(head, cell);
    return row;
  }));
  find("path").replaceChildren(...proof.path.map((hash) => {
    const entry = document.createElement("li"), code = document.createElement("code");
    code.textContent = hash;
    entry.append(code);
    return entry;
  }));
  show("details", true);
}

const lists = ["inclusion", "consistency", "exported", "reported", "details", "says", "text", "differs", "found"];

// showDifferences names the fields in which the server's record is not the kept one.
function showDifferences({ differences }, kept, record) {
  const names = kept ? differences(kept.record ?? {}, record) : [];
  show("differs", names.length > 0);
  find("differs").querySelector("code").textContent = names.join(" ");
}

// prove verifies the proof of an event. If another proof of the event was kept, it names the fields that differ.
async function prove(verifier, proof, kept) {
  showRecord(verifier, proof);
  const steps = await verifier.inclusion(proof, find("key").value);
  showSteps("inclusion", steps);
  const { name, stream, actor, recorded_at: at } = proof.record;
  find("says").querySelector("code").textContent = [name, stream, actor, at].join(" · ");
  show("says", true);
  showDifferences(verifier, kept, proof.record);
  show("found", false);
  const failed = steps.filter((step) => !step.ok).map((step) => step.name);
  const rewritten = steps.some((step) => step.detail.includes("≠"));
  if (!rewritten && (!failed.includes("record") || failed.includes("path"))) return; // else what was signed is not known
  show("looking", true);
  const edit = await changed(verifier, proof.record, proof.hash, rewritten && proof.leaf);
  show("looking", false);
  show("found", Boolean(edit));
  if (edit) [find("field").textContent, find("was").textContent] = [edit.field, edit.was];
}

// proveText compares the text of an event, which auditors and admins read with its salt, with the commitment to it.
async function proveText({ seal }, { position, text_commitment: commitment }) {
  if (!commitment) return;
  const line = await read(`log/export?after=${position - 1}&through=${position}&texts=true`).catch((error) => {
    if (error.status !== 403) throw error;
    return {};
  }), box = find("text");
  const badge = box.querySelector(".badge"), sum = line.salt && line.text !== undefined ? await seal(line) : "";
  const state = !line.hash ? "forbidden" : !sum ? "erased" : sum === commitment ? "good" : "bad";
  badge.className = "badge " + { good: "good", bad: "bad" }[state];
  badge.textContent = box.dataset[state];
  box.querySelector("blockquote").textContent = line.text ?? "";
  [box.querySelector(".was").textContent, box.querySelector(".is").textContent] = [commitment, sum || "–"];
  show("text", true);
}

const proofOf = (id) => read("log/proof/" + encodeURIComponent(id));

async function compare(verifier, kept) {
  const { size } = verifier.parse(kept), now = await read("log/checkpoint");
  const asked = size > 0 && size <= now.size;
  const path = asked ? (await read(`log/consistency?from=${size}&to=${now.size}`)).path : [];
  showSteps("consistency", await verifier.consistency(kept, now.note, path, find("key").value));
}

// proveReport verifies a report, and shows what its events say, since the readable part of it may say otherwise.
async function proveReport(verifier, report) {
  find("reported").querySelector("ul").replaceChildren(...report.proofs.map(({ position, record }) => {
    const entry = document.createElement("li"), { name, stream, actor, recorded_at: at, text } = record ?? {};
    entry.textContent = [`#${position}`, name, stream, actor, at, text].filter(Boolean).join(" · ");
    return entry;
  }));
  showSteps("reported", await verifier.reported(report, find("key").value));
}

// examine verifies what a file contains: the proof of an event, such as the certificate of an erasure, a checkpoint, the
// proof that a log continues one, an export, or a report of what was known.
async function examine(verifier, text) {
  const key = find("key").value;
  lists.forEach((id) => show(id, false));
  [find("verdict").textContent, find("verdict").className] = [find("proof").dataset.working, "quiet"];
  const page = text.match(/^<!DOCTYPE html>[^]*?<script type="application\/json" id="known">([^]*?)<\/script>/);
  const report = page || /^{\s*"about":/.test(text) ? JSON.parse(page ? page[1] : text) : {};
  if (report.proofs) return proveReport(verifier, report);
  if (!text.startsWith("{")) return compare(verifier, text + "\n");
  if (/^{"(tenant|manifest)":/.test(text)) return showSteps("exported", await verifier.exported(text, key));
  const kept = JSON.parse(text);
  if (kept.later) return showSteps("consistency", await verifier.consistency(kept.earlier, kept.later, kept.path, key));
  await prove(verifier, kept);
  const now = await proofOf(kept.record?.event_id ?? kept.event_id).catch(() => null);
  if (now && find("verdict").className.includes("bad")) showDifferences(verifier, kept, now.record);
  else if (now) await prove(verifier, now, kept);
}

async function startKey() {
  const key = find("key"), own = (await read("log/key")).key;
  let kept = localStorage.getItem(remembered);
  const state = () => {
    show("key-kept", key.value.trim() === kept);
    show("key-other", kept !== null && key.value.trim() !== kept);
    show("key-changed", kept !== null && own !== kept);
    show("key-claim", kept === null && key.value.trim() === own);
  };
  key.value = kept ?? "";
  key.addEventListener("input", state);
  find("own").addEventListener("click", () => { key.value = own; state(); });
  find("keep").addEventListener("click", () => {
    kept = key.value.trim();
    localStorage.setItem(remembered, kept);
    state();
  });
  state();
}

export async function start(page) {
  if (!await able()) return show("unable", true);
  const verifier = await import(page.dataset.verifier);
  const attempt = (work) => work().catch((error) => say(`${page.dataset.failed} ${error.message}`, "bad"));
  await attempt(startKey);
  page.hidden = false;
  const event = page.dataset.event, again = () => event && attempt(async () => {
    const proof = await proofOf(event);
    await prove(verifier, proof);
    await proveText(verifier, proof.record);
  });
  find("verify").addEventListener("click", again);
  find("compare").addEventListener("click", () => attempt(() => examine(verifier, find("kept").value.trim())));
  const take = (file) => file && attempt(async () => examine(verifier, (await file.text()).trim()));
  find("file").addEventListener("change", ({ target }) => take(target.files[0]));
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });
  again();
}

const page = find("proof");
if (page) start(page);
