// A page that is out of date says how many events are new, and reloads on request. It follows them while it is shown.
const live = document.getElementById("live");
const link = live.querySelector("a");
let count = 0;
let last = "";
let source;

function follow() {
  source?.close();
  if (document.hidden) return;
  const address = new URL(live.dataset.events, location);
  if (last) address.searchParams.set("after", last);
  source = new EventSource(address);
  source.addEventListener("message", (event) => {
    const { position, actor } = JSON.parse(event.data);
    if (position <= Number(last)) return; // it is sent again after a pause
    last = String(position);
    if (actor === live.dataset.reader) return; // the page has answered to it
    count++;
    link.textContent = live.dataset.text.replace("#", count);
    live.hidden = false;
  });
}

document.addEventListener("visibilitychange", follow);
window.addEventListener("pagehide", () => source?.close());
window.addEventListener("pageshow", (event) => { if (event.persisted) follow(); });
follow();
