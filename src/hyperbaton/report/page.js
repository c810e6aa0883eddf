"use strict";
// Turn the pages of the sentences, and show a phrase's scores on hovering, focus or tap.
for (const browser of document.querySelectorAll(".browser")) {
  const pairs = [...browser.querySelectorAll(".pair")];
  const pager = browser.querySelector(".pager");
  const select = pager.querySelector("select");
  const tip = browser.querySelector(".tip");

  pairs.forEach((pair, k) => select.add(new Option(pair.dataset.name, k)));
  const show = (k) => {
    const chosen = (k + pairs.length) % pairs.length;
    pairs.forEach((pair, other) => (pair.hidden = other !== chosen));
    select.value = chosen;
    pager.querySelector(".count").textContent = `${chosen + 1} of ${pairs.length}`;
    tip.hidden = true;
  };
  const named = () => pairs.findIndex((pair) => `#${pair.id}` === location.hash);
  pager.hidden = pairs.length < 2;
  show(Math.max(named(), 0));
  select.addEventListener("change", () => show(Number(select.value)));
  pager.addEventListener("click", (event) => {
    const step = event.target.dataset.step;
    if (step) show(Number(select.value) + Number(step));
  });
  window.addEventListener("hashchange", () => {
    if (named() >= 0) {
      show(named());
      pairs[named()].scrollIntoView();
    }
  });

  for (const phrase of browser.querySelectorAll(".phrase")) {
    // The browser's own tooltip would stand beside ours.
    const title = phrase.querySelector("title");
    const text = title.textContent;
    phrase.setAttribute("aria-label", text);
    title.remove();
    const open = () => {
      tip.textContent = text;
      tip.hidden = false;
      const box = phrase.querySelector("rect").getBoundingClientRect();
      const size = tip.getBoundingClientRect();
      const left = Math.min(Math.max(box.left, 8), window.innerWidth - size.width - 8);
      const above = box.top - size.height - 8;
      tip.style.left = `${Math.max(left, 8)}px`;
      tip.style.top = `${above > 8 ? above : Math.min(box.bottom + 8, window.innerHeight - size.height - 8)}px`;
    };
    const close = () => (tip.hidden = true);
    phrase.addEventListener("pointerenter", open);
    phrase.addEventListener("pointerleave", (event) => event.pointerType === "mouse" && close());
    phrase.addEventListener("focus", open);
    phrase.addEventListener("blur", close);
    phrase.addEventListener("keydown", (event) => event.key === "Escape" && close());
  }
  window.addEventListener("scroll", () => (tip.hidden = true), { passive: true });
}
