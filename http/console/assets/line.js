// The query line completes the word at the cursor: the name of a filter, its value, or somebody by their name. The fields
// below the line write into it.
const source = document.getElementById("line");
const field = document.querySelector("[list=line]");
const { combobox, read } = globalThis.annals;
const words = [...source.options].map((option) => option.dataset.word);
const entities = ["owner", "scope", "actor", "on_behalf_of", "by", "for"];
const pattern = /(?:[^\s"]|"(?:[^"\\]|\\.)*"?)+/g; // of a word, as the server reads it
const most = 12;
let timer;
let asking = new AbortController();

field.removeAttribute("list");
const show = combobox(field, document.getElementById("line-list"), ({ text }) => {
  const { from, to } = current();
  const rest = field.value.slice(to).trimStart();
  const before = field.value.slice(0, from) + text + (text.endsWith(":") ? "" : " ");
  field.value = before + rest;
  field.setSelectionRange(before.length, before.length);
  field.dispatchEvent(new Event("input", { bubbles: true }));
});
const hide = () => show([], -1);

// current is where the word at the cursor is, and its part before the cursor.
function current() {
  const at = field.selectionStart;
  for (const found of field.value.matchAll(pattern)) {
    const [from, to] = [found.index, found.index + found[0].length];
    if (from < at && at <= to) return { from, to, typed: field.value.slice(from, at) };
  }
  return { from: at, to: at, typed: "" };
}

// complete offers what begins with the word, and asks the server for entities. A later word takes the place of an earlier
// one.
async function complete() {
  const { typed } = current();
  const [name, ...value] = typed.split(":");
  const begins = words.filter((word) => word.startsWith(typed) && word !== typed && (value.length > 0 || !/:./.test(word)))
    .slice(0, most).map((text) => ({ text, kind: "" }));
  show(begins, -1);
  clearTimeout(timer);
  asking.abort();
  if (value.length === 0 || !entities.includes(name)) return;
  asking = new AbortController();
  const { signal } = asking;
  const q = value.at(-1);
  const kinds = value.length > 1 ? [value[0]] : ["user", "team"];
  timer = setTimeout(async () => {
    try {
      const members = await Promise.all(kinds.map((kind) => read("directory", { kind, q, limit: most }, signal)));
      if (document.activeElement !== field) return;
      show(members.flat().map((m) => ({ text: name + ":" + m.member, kind: m.display_name ?? "" })), -1);
    } catch (error) {
      if (error.name !== "AbortError") hide();
    }
  }, 150);
}

field.addEventListener("input", () => {
  if (document.activeElement === field && current().typed) complete();
  else hide();
});
field.addEventListener("keydown", (event) => {
  const open = field.ariaExpanded === "true";
  if (event.key === "ArrowDown" && !open) complete();
  else if (event.key === "Escape" && open) hide();
  else return;
  event.preventDefault();
});
field.addEventListener("blur", hide);

// A field below the line is sent by itself until the reader changes it. From then on its word in the line counts.
function written(name, value) {
  if (value === "") return "";
  return name + ":" + (/[\s"]/.test(value) ? JSON.stringify(value) : value);
}
const inLine = () => field.value.match(pattern) ?? [];
for (const input of field.form.querySelectorAll("details [name]")) {
  const { name } = input;
  if (!words.includes(name + ":")) continue;
  let word = written(name, input.value);
  input.addEventListener("change", () => {
    const next = written(name, input.value.trim());
    field.value = [...inLine().filter((one) => one !== word), ...(next ? [next] : [])].join(" ");
    word = next;
    input.removeAttribute("name");
    field.dispatchEvent(new Event("input", { bubbles: true }));
  });
  field.addEventListener("input", () => {
    if (word && !inLine().includes(word)) input.value = word = "";
  });
}
