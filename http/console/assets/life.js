// The slider, and a click on a point, go along the line of time: the text of that moment takes the place of the other.
const slider = document.getElementById("along");
const points = [...document.querySelectorAll(".life .point a")];
let at = points.length - 1;

function show(next) {
  points[at].removeAttribute("aria-current");
  at = next;
  points[at].setAttribute("aria-current", "true");
  points[at].scrollIntoView({ block: "nearest", inline: "nearest" });
  slider.value = at;
  slider.ariaValueText = points[at].querySelector("title").textContent;
  const address = points[at].getAttribute("href");
  globalThis.htmx.ajax("GET", address, { source: slider, target: "#then", select: "#then", swap: "outerHTML" });
}

if (slider) {
  slider.hidden = false;
  slider.ariaValueText = points[at].querySelector("title").textContent;
  slider.addEventListener("input", () => show(Number(slider.value)));
  points.forEach((point, next) => point.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(next);
  }));
  slider.addEventListener("htmx:before:response", (event) => { // that it was forgotten is a page, too
    const { status } = event.detail.ctx.response;
    if (status < 400 || status === 410) return;
    event.preventDefault();
    location.href = points[at].getAttribute("href");
  });
}
