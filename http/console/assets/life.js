// The slider, and a click on a point, go along the line of time: the text of that moment takes the place of the other.
const slider = document.getElementById("along");
const points = [...document.querySelectorAll(".life .point a")];

function show(at) {
  const point = points[at];
  for (const one of points) one.removeAttribute("aria-current");
  point.setAttribute("aria-current", "true");
  point.scrollIntoView({ block: "nearest", inline: "nearest" });
  slider.value = at;
  slider.ariaValueText = point.querySelector("title").textContent;
  globalThis.htmx.ajax("GET", point.getAttribute("href"), { source: slider, target: "#then", select: "#then", swap: "outerHTML" });
}

if (slider) {
  slider.hidden = false;
  slider.ariaValueText = points.at(-1).querySelector("title").textContent;
  slider.addEventListener("input", () => show(Number(slider.value)));
  points.forEach((point, at) => point.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    show(at);
  }));
}
