// The palette (Ctrl-K) leads to pages, to acts of this page, and to items and people that the server finds.
const palette = document.getElementById("palette");
const field = palette.querySelector("input");
const status = palette.querySelector("[role=status]");
const root = new URL("..", import.meta.url).pathname;
const moment = new URLSearchParams(location.search).get("as_of");
const suffix = moment ? "?as_of=" + encodeURIComponent(moment) : "";
const most = 6; // of each kind that the server finds
let local = []; // what this page leads to: {text, kind, choose}
let found = []; // the same from the server
let timer;
let asking = new AbortController();
const { combobox, read } = globalThis.annals;
const offer = combobox(field, palette.querySelector("[role=listbox]"), choose);

function nameOf(element) {
  const copy = element.cloneNode(true);
  for (const key of copy.querySelectorAll("kbd")) key.remove();
  return element.getAttribute("aria-label") || copy.textContent.trim() || element.title;
}

function act(element) {
  if (element.matches("input, textarea, select")) element.focus();
  else element.click();
}

const goTo = (path) => () => { location.href = root + path + suffix; };

function collect() {
  const acts = [...document.querySelectorAll("#write, main [aria-keyshortcuts], main .acts :is(a, button)")]
    .filter((element) => element.checkVisibility() || element.closest(".acts details"))
    .map((element) => ({ text: nameOf(element), kind: "act", choose: () => act(element) }));
  const pages = [...document.querySelectorAll(".side a")]
    .map((link) => ({ text: nameOf(link), kind: "page", choose: () => { location.href = link.href; } }));
  return [...acts, ...pages];
}

function show(at) {
  const words = field.value.toLowerCase().split(/\s+/);
  const fits = (entry) => words.every((word) => entry.text.toLowerCase().includes(word));
  const options = [...local.filter(fits), ...found];
  offer(options.map((entry) => ({ ...entry, kind: [palette.dataset[entry.kind], entry.note].filter(Boolean).join(" · ") })), at);
  status.textContent = options.length === 0 ? palette.dataset.none : "";
}

// brief is the beginning of a text, by whole characters.
function brief(text, longest = 80) {
  const characters = [...text.trim().slice(0, 4 * longest)];
  return characters.slice(0, longest).join("") + (characters.length > longest ? "…" : "");
}

// age says in words how long ago something was.
function age(time) {
  const seconds = (Date.now() - Date.parse(time)) / 1000;
  const [unit, length] = [["year", 31557600], ["month", 2629800], ["day", 86400], ["hour", 3600], ["minute", 60]]
    .find(([, length]) => seconds >= length) ?? ["minute", 60];
  return new Intl.RelativeTimeFormat(document.documentElement.lang, { numeric: "auto" }).format(-Math.floor(seconds / length), unit);
}

function choose(entry) {
  palette.close();
  entry.choose();
}

// ask asks the server for what the field says. A later question takes the place of an earlier one.
async function ask() {
  const q = brief(field.value, 200);
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  if (q.length < 2) return;
  try {
    const [hits, ...members] = await Promise.all([
      read("search", moment ? { q, as_of: moment } : { q }, signal),
      ...["user", "team"].map((kind) => read("directory", { kind, q, limit: most }, signal)),
    ]);
    const items = hits.slice(0, most).map((hit) => hit.knowledge);
    const owners = new Set(items.map((k) => k.owner));
    const named = owners.size ? await read("directory", [...owners].map((owner) => ["member", owner]), signal) : [];
    const called = (entity) => named.find((m) => m.member === entity)?.display_name || entity.replace(/^\w+:/, "");
    found = [
      ...items.map((k) => ({
        text: brief(k.task || k.content), kind: "item", note: called(k.owner) + " · " + age(k.updated_at),
        choose: goTo("k/" + encodeURIComponent(k.id)),
      })),
      ...members.flat().map((m) => ({
        text: m.display_name ? m.display_name + " · " + m.member : m.member, kind: "person",
        choose: goTo("people/" + encodeURIComponent(m.member)),
      })),
    ];
    show();
  } catch (error) {
    if (error.name !== "AbortError") status.textContent = palette.dataset.failed + " " + error.message;
  }
}

field.addEventListener("input", () => {
  found = [];
  show(0);
  clearTimeout(timer);
  timer = setTimeout(ask, 150);
});
palette.addEventListener("click", (event) => { if (event.target === palette) palette.close(); });
palette.addEventListener("close", () => { clearTimeout(timer); asking.abort(); });
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  if (palette.open) return palette.close();
  document.querySelector("dialog[open]")?.close();
  [local, found, field.value] = [collect(), [], ""];
  palette.showModal();
  show(0);
});
