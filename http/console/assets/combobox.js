// A combobox is a field with a list of options below it. The arrow keys mark one, and Enter or a click chooses it. An
// option has a text, a kind and whatever its chooser needs. The function that is returned shows options, and marks one
// of them; none for -1.
function combobox(field, list, choose) {
  let options = [];
  let marked = -1;
  field.role = "combobox";
  field.autocomplete = "off";
  field.setAttribute("aria-autocomplete", "list");
  field.setAttribute("aria-controls", list.id);

  function mark(at) {
    marked = Math.min(at, options.length - 1);
    [...list.children].forEach((option, i) => option.setAttribute("aria-selected", String(i === marked)));
    if (marked < 0) return field.removeAttribute("aria-activedescendant");
    field.setAttribute("aria-activedescendant", list.children[marked].id);
    list.children[marked].scrollIntoView({ block: "nearest" });
  }

  function show(entries, at = Math.max(marked, 0)) {
    options = entries;
    list.replaceChildren(...options.map((entry, i) => {
      const option = document.createElement("li");
      option.role = "option";
      option.id = list.id + "-" + i;
      option.addEventListener("mousedown", (event) => event.preventDefault()); // the field keeps the focus
      option.addEventListener("click", () => choose(entry));
      const kind = document.createElement("span");
      kind.className = "quiet";
      kind.textContent = entry.kind;
      const text = document.createElement("bdi"); // a text may run from right to left
      text.textContent = entry.text;
      option.append(text, " ", kind);
      return option;
    }));
    list.hidden = options.length === 0;
    field.setAttribute("aria-expanded", String(!list.hidden));
    mark(at);
  }

  field.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing || options.length === 0 || !step && (event.key !== "Enter" || marked < 0)) return;
    event.preventDefault();
    if (!step) return choose(options[marked]);
    mark((Math.max(marked, step < 0 ? 0 : -1) + step + options.length) % options.length);
  });
  show([]);
  return show;
}

// read reads a list of the API. Who may not read it finds none.
async function read(path, query, signal) {
  const answer = await fetch(new URL("../data/v1/" + path + "?" + new URLSearchParams(query), import.meta.url), { signal });
  return answer.ok ? (await answer.json()).items : [];
}

globalThis.annals = { combobox, read }; // the address of a script has its hash, so the others cannot import it by name
