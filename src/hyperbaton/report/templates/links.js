"use strict";
// Lines between linked words, redrawn when the words move, with both sides highlighted while the pointer is on a word.
function linkUp(pair) {
  const links = JSON.parse(pair.dataset.links);
  const sides = [...pair.querySelectorAll(".side")].map((side) => [...side.querySelectorAll(".word")]);
  const drawing = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  drawing.setAttribute("aria-hidden", "true");
  pair.prepend(drawing);
  const lines = links.map(([source, target, sure]) => {
    const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    line.setAttribute("stroke-opacity", String(Math.max(sure, 0.08)));
    drawing.append(line);
    return { source: sides[0][source], target: sides[1][target], line };
  });

  const draw = () => {
    const origin = pair.getBoundingClientRect();
    for (const { source, target, line } of lines) {
      const from = source.getBoundingClientRect();
      const to = target.getBoundingClientRect();
      const x1 = from.left + from.width / 2 - origin.left, y1 = from.bottom - origin.top;
      const x2 = to.left + to.width / 2 - origin.left, y2 = to.top - origin.top;
      const bend = Math.max((y2 - y1) / 2, 12);
      line.setAttribute("d", `M${x1},${y1} C${x1},${y1 + bend} ${x2},${y2 - bend} ${x2},${y2}`);
    }
  };
  draw();
  new ResizeObserver(draw).observe(pair);

  const look = (word) => {
    const own = lines.filter(({ source, target }) => source === word || target === word);
    for (const lit of pair.querySelectorAll(".lit")) lit.classList.remove("lit");
    pair.classList.toggle("looking", word !== null);
    word?.classList.add("lit");
    for (const { source, target, line } of own) {
      for (const each of [source, target, line]) each.classList.add("lit");
    }
  };
  pair.addEventListener("pointerover", (event) => look(event.target.closest(".word")));
  pair.addEventListener("pointerleave", (event) => { if (event.pointerType === "mouse") look(null); });
  pair.addEventListener("click", (event) => look(event.target.closest(".word")));
}
document.querySelectorAll(".linked").forEach(linkUp);
