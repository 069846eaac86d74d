// The page /console/proof: it asks the server, reads files and shows what proof.js finds. All texts are in the page.

const remembered = "annals log key";
const find = (id) => document.getElementById(id);
const show = (id, visible) => { find(id).hidden = !visible; };

async function read(path) {
  const answer = await fetch("/console/data/v1/" + path);
  const body = await answer.json();
  if (!answer.ok) throw new Error(body.detail || body.title);
  return body;
}

// able tells whether this browser has what proof.js needs. Browsers offer WebCrypto only over TLS and on localhost.
const able = async () => Boolean(globalThis.crypto?.subtle && Uint8Array.fromHex) &&
  crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]).then(() => true, () => false);

// changed looks for the one byte whose replacement explains a wrong hash, by trying. It returns {field, was}, or
// undefined if more was changed.
export async function changed({ FIELDS, canonical }, record, hash) {
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
        return crypto.subtle.digest("SHA-256", bytes); // which copies them
      }));
      const found = hashes.findIndex((digest) => new Uint8Array(digest).toHex() === hash);
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

// prove verifies the proof of an event. If another proof of the event was kept, it names the fields that differ.
async function prove(verifier, proof, kept) {
  showRecord(verifier, proof);
  const steps = await verifier.inclusion(proof, find("key").value);
  showSteps("inclusion", steps);
  const other = kept ? verifier.differences(kept.record, proof.record) : [];
  show("differs", other.length > 0);
  find("differs").querySelector("code").textContent = other.join(" ");
  show("found", false);
  const failed = steps.filter((step) => !step.ok).map((step) => step.name);
  if (!failed.includes("record") || failed.includes("path")) return; // else the signed hash is not known
  show("looking", true);
  const edit = await changed(verifier, proof.record, proof.hash);
  show("looking", false);
  show("found", Boolean(edit));
  if (edit) [find("field").textContent, find("was").textContent] = [edit.field, edit.was];
}

const proofOf = (id) => read("log/proof/" + encodeURIComponent(id));

async function compare(verifier, kept) {
  const { size } = verifier.parse(kept), now = await read("log/checkpoint");
  const asked = size > 0 && size <= now.size;
  const path = asked ? (await read(`log/consistency?from=${size}&to=${now.size}`)).path : [];
  showSteps("consistency", await verifier.consistency(kept, now.note, path, find("key").value));
}

// examine verifies what a file contains: the proof of an event, or a checkpoint.
async function examine(verifier, text) {
  if (!text.trim().startsWith("{")) return compare(verifier, text);
  const kept = JSON.parse(text);
  await prove(verifier, kept);
  if (find("verdict").className.includes("good")) {
    await prove(verifier, await proofOf(kept.event_id), kept);
  }
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
  find("remember").addEventListener("click", () => {
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
  const event = page.dataset.event, again = () => event && attempt(async () => prove(verifier, await proofOf(event)));
  find("verify").addEventListener("click", again);
  find("compare").addEventListener("click", () => attempt(() => compare(verifier, find("kept").value.trim() + "\n")));
  find("file").addEventListener("change", ({ target }) =>
    target.files[0] && attempt(async () => examine(verifier, await target.files[0].text())));
  again();
}

const page = find("proof");
if (page) start(page);
