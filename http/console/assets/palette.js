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
  const acts = [...document.querySelectorAll("main [aria-keyshortcuts], main .acts :is(a, button)")]
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
  offer(options.map((entry) => ({ ...entry, kind: palette.dataset[entry.kind] })), at);
  status.textContent = options.length === 0 ? palette.dataset.none : "";
}

function choose(entry) {
  palette.close();
  entry.choose();
}

// ask asks the server for what the field says. A later question takes the place of an earlier one.
async function ask() {
  const q = field.value.trim();
  asking.abort();
  asking = new AbortController();
  const { signal } = asking;
  if (q.length < 2) return;
  try {
    const [hits, ...members] = await Promise.all([
      read("search", moment ? { q, as_of: moment } : { q }, signal),
      ...["user", "team"].map((kind) => read("directory", { kind, q, limit: most }, signal)),
    ]);
    found = [
      ...hits.slice(0, most).map(({ knowledge: k }) => ({
        text: k.task || k.content.slice(0, 80), kind: "item", choose: goTo("k/" + encodeURIComponent(k.id)),
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
