// Keys of all pages. They act only while no field has the focus, never with Ctrl, Alt or Meta, and not at all once the
// reader has switched them off. An element names its keys in aria-keyshortcuts, such as "c" or "Space i".
const pages = { h: "", s: "search", k: "knowledge", r: "review", l: "log", p: "proof" };
const root = new URL("..", import.meta.url).pathname;
const off = "annals-keys-off";
let leader = false;
let leaving = false;
let sent = -Infinity;
let current = -1;

function entries() {
  return [...document.querySelectorAll("main a.entry")].filter((entry) => entry.checkVisibility());
}

function move(step) {
  const list = entries();
  if (list.length === 0) return;
  current = Math.min(Math.max(current + step, 0), list.length - 1);
  list[current].focus();
  list[current].scrollIntoView({ block: "nearest" });
}

// Keys of the time bar and of acts work while they are folded, too.
function labelled(key, shift) {
  const names = [key === " " ? "Space" : key, shift ? "Shift+" + key : key];
  const acts = (element) => element.checkVisibility({ visibilityProperty: true }) || element.closest(".timebar, .acts details");
  return [...document.querySelectorAll("[aria-keyshortcuts]")].find((element) => acts(element) &&
    element.getAttribute("aria-keyshortcuts").split(" ").some((name) => names.includes(name)));
}

function act(key, shift) {
  if (leader) {
    const moment = new URLSearchParams(location.search).get("as_of");
    if (key in pages) location.href = root + pages[key] + (moment ? "?as_of=" + encodeURIComponent(moment) : "");
    return key in pages;
  }
  const acts = {
    "?": showKeys, j: () => move(1), k: () => move(-1),
    x: () => document.activeElement.closest("tr")?.querySelector("input[type=checkbox]")?.click(),
  };
  const element = labelled(key, shift);
  if (element?.matches("input, textarea, select")) element.focus();
  else if (element) element.click();
  else if (key in acts) acts[key]();
  return key in acts || element !== undefined;
}

document.addEventListener("keydown", (event) => { // sends a text of several lines
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || event.isComposing) return;
  event.target.form?.querySelector('[aria-keyshortcuts="Control+Enter"]')?.click();
});
document.addEventListener("keydown", (event) => {
  const target = event.target.checkVisibility() ? event.target : document.body; // a closed dialog may keep the focus
  if (event.ctrlKey || event.altKey || event.metaKey || leaving || localStorage.getItem(off) ||
    target.closest("input, select, textarea") || document.querySelector("dialog[open]") || event.key === " " && target.closest("button, summary")) return;
  const move = (event.key === "j" || event.key === "k") && !labelled(event.key, event.shiftKey);
  if (event.repeat && !move) return; // a key that is held acts once
  if (act(event.key, event.shiftKey)) event.preventDefault();
  leader = event.key === "g" && !leader;
});
document.addEventListener("submit", (event) => { // a form is sent once; that of a dialog stays on the page
  const again = event.target.method === "post" && event.timeStamp - sent < 2000; // whose answer would replace the first
  if (again) event.preventDefault();
  else if (event.target.method === "post" && !event.defaultPrevented) sent = event.timeStamp;
  leaving = again || !event.defaultPrevented && event.target.method !== "dialog";
});
window.addEventListener("pageshow", () => {
  leaving = false;
  sent = -Infinity;
});

// The list of keys ends with those of the page.
function showKeys() {
  const list = document.getElementById("page-keys");
  list.replaceChildren();
  for (const element of document.querySelectorAll("main [aria-keyshortcuts]")) {
    if (!element.checkVisibility() && !element.closest(".acts details")) continue;
    const term = document.createElement("dt");
    for (const key of element.getAttribute("aria-keyshortcuts").split(" ")) {
      const shown = document.createElement("kbd");
      shown.textContent = key.replace("Shift+", "");
      term.append(shown, " ");
    }
    const copy = element.cloneNode(true);
    for (const key of copy.querySelectorAll("kbd")) key.remove();
    const meaning = document.createElement("dd");
    meaning.textContent = element.getAttribute("aria-label") || copy.textContent.trim() || element.title;
    list.append(term, meaning);
  }
  list.previousElementSibling.hidden = list.children.length === 0;
  document.getElementById("keys").showModal();
}

// An act in place removes the button that had the focus: what came in its place has it then, so that a reader of the
// screen goes on from there.
let place = "";
document.addEventListener("htmx:before:request", (event) => {
  const form = event.target.closest?.("form[hx-post]");
  place = "";
  if (!form?.contains(document.activeElement)) return;
  place = form.matches(".vote") ? `.vote[action="${form.getAttribute("action")}"] button` : "#deciding :is(.entry, a, button)";
});
document.addEventListener("htmx:after:settle", () => {
  const lost = place && document.activeElement === document.body;
  if (lost) (document.querySelector(place) ?? document.getElementById("main")).focus({ preventScroll: true });
});

// The icon on a home screen has the number of what waits for the reader, where the system shows one.
function countWaiting() {
  const waits = document.querySelector("[data-waits]");
  if (waits) navigator.setAppBadge?.(Number(waits.dataset.waits)).catch(() => {});
}
countWaiting();
document.addEventListener("htmx:after:settle", countWaiting);

// The box of a new item opens over the page; without it, the link leads to its page.
const box = document.getElementById("remember");
if (box) {
  document.getElementById("write").addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    document.querySelector("dialog[open]")?.close();
    box.showModal();
  });
}

const keysOn = document.getElementById("keys-on");
keysOn.checked = !localStorage.getItem(off);
keysOn.addEventListener("change", () => {
  if (keysOn.checked) localStorage.removeItem(off);
  else localStorage.setItem(off, "1");
});

const help = document.getElementById("help");
help.hidden = false;
help.addEventListener("click", showKeys);

// The slider of the time bar goes to its position when it is released.
const slider = document.getElementById("moment");
if (slider) {
  const field = slider.form.elements.as_of;
  slider.hidden = false;
  slider.addEventListener("input", () => { field.value = slider.value; });
  slider.addEventListener("change", () => slider.form.requestSubmit());
}
