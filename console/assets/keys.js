// Keys of all pages. They act only while no field has the focus, and never with Ctrl, Alt or Meta.
const pages = { h: "", s: "search", k: "knowledge", l: "log", p: "proof" };
const root = "/console/";
let leader = false;
let current = -1;

function entries() {
  return [...document.querySelectorAll("main a.entry")];
}

function move(step) {
  const list = entries();
  if (list.length === 0) return;
  current = Math.min(Math.max(current + step, 0), list.length - 1);
  list[current].focus();
  list[current].scrollIntoView({ block: "nearest" });
}

function follow(id) {
  document.getElementById(id)?.click();
}

function act(key) {
  const moment = new URLSearchParams(location.search).get("as_of");
  if (leader && key in pages) {
    location.href = root + pages[key] + (moment ? "?as_of=" + encodeURIComponent(moment) : "");
    return true;
  }
  const acts = {
    "/": () => document.querySelector("input[type=search]")?.focus(),
    "?": () => document.getElementById("keys").showModal(),
    j: () => move(1), k: () => move(-1),
    "[": () => follow("back"), "]": () => follow("on"), n: () => follow("now"),
  };
  if (!(key in acts)) return false;
  acts[key]();
  return true;
}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.target.closest("input, select, textarea, dialog")) return;
  const pressed = event.key;
  if (act(pressed)) event.preventDefault();
  leader = pressed === "g" && !leader;
});

const help = document.getElementById("help");
help.hidden = false;
help.addEventListener("click", () => document.getElementById("keys").showModal());

// The slider of the time bar goes to its position when it is released.
const slider = document.getElementById("moment");
if (slider) {
  const field = slider.form.elements.as_of;
  slider.hidden = false;
  slider.addEventListener("input", () => { field.value = slider.value; });
  slider.addEventListener("change", () => slider.form.requestSubmit());
}
