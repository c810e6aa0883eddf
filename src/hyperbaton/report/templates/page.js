"use strict";
// Page through the sentences, compare two systems, and show a phrase's scores on hovering, focus or tap.
const ALL = "";
const pages = []; // what is drawn anew when other systems are chosen
const chosen = { first: ALL, second: ALL };

// Every list of systems on the page shows the same two.
function offerSystems(choice, systems, withAll) {
  const [first, second] = choice.querySelectorAll("select");
  if (withAll) first.add(new Option("all systems", ALL));
  for (const select of [first, second]) systems.forEach((system) => select.add(new Option(system, system)));
  choice.hidden = false;
  first.addEventListener("change", () => {
    chosen.first = first.value;
    pages.forEach((draw) => draw());
  });
  second.addEventListener("change", () => {
    chosen.second = second.value;
    pages.forEach((draw) => draw());
  });
  return () => {
    const known = (name, other) => (systems.includes(name) ? name : other);
    first.value = known(chosen.first, withAll ? ALL : systems[0]);
    second.value = known(chosen.second, systems[systems.length - 1]);
    second.parentElement.hidden = first.value === ALL;
    return [first.value, second.value];
  };
}
for (const choice of document.querySelectorAll(".choice")) {
  chosen.first = chosen.first || choice.dataset.first;
  chosen.second = chosen.second || choice.dataset.second;
}

for (const comparison of document.querySelectorAll(".comparison")) {
  const { scores, lower } = JSON.parse(comparison.dataset.scores);
  const systems = [...new Set(Object.values(scores).flatMap((rows) => Object.keys(rows)))];
  const show = offerSystems(comparison.querySelector(".choice"), systems, false);
  const table = comparison.querySelector("table");
  const cell = (row, text, number, bold) => {
    const made = row.insertCell();
    if (number) made.className = "num";
    (bold ? made.appendChild(document.createElement("b")) : made).textContent = text;
  };
  const digits = (value) => (String(value).split(".")[1] || "").length;
  const draw = () => {
    const [first, second] = show();
    table.replaceChildren();
    const head = table.createTHead().insertRow();
    for (const title of ["", first, second, "difference"]) {
      const made = head.appendChild(document.createElement("th"));
      made.textContent = title;
      if (title) made.className = "num";
    }
    for (const [limit, rows] of Object.entries(scores)) {
      const body = table.createTBody();
      const title = body.insertRow();
      title.className = "group";
      const heading = title.appendChild(document.createElement("th"));
      heading.colSpan = 4;
      heading.textContent = limit;
      const [left, right] = [rows[first] || {}, rows[second] || {}];
      for (const metric of Object.keys(left).filter((name) => name in right)) {
        const [one, other] = [left[metric], right[metric]];
        const n = Math.max(2, digits(one), digits(other));
        const gain = (other - one) * (lower.includes(metric) ? -1 : 1);
        const row = body.insertRow();
        cell(row, `${metric} ${lower.includes(metric) ? "↓" : "↑"}`, false);
        cell(row, one.toFixed(n), true, gain < 0);
        cell(row, other.toFixed(n), true, gain > 0);
        cell(row, (other > one ? "+" : "") + (other - one).toFixed(n).replace("-", "−"), true);
      }
    }
  };
  comparison.hidden = false;
  pages.push(draw);
  draw();
}

for (const browser of document.querySelectorAll(".browser")) {
  const pairs = [...browser.querySelectorAll(".pair")];
  const pager = browser.querySelector(".pager");
  const select = pager.querySelector(".which");
  const tip = browser.querySelector(".tip");

  pairs.forEach((pair, k) => select.add(new Option(pair.dataset.name, k)));
  const show = (k) => {
    const place = (k + pairs.length) % pairs.length;
    pairs.forEach((pair, other) => (pair.hidden = other !== place));
    select.value = place;
    pager.querySelector(".count").textContent = `${place + 1} of ${pairs.length}`;
    tip.hidden = true;
  };
  const systems = [...new Set([...browser.querySelectorAll(".hypothesis")].map((one) => one.dataset.system))];
  if (systems.length > 1) {
    const systemsShown = offerSystems(pager.querySelector(".choice"), systems, true);
    const draw = () => {
      const [first, second] = systemsShown();
      for (const pair of pairs) {
        const every = [...pair.querySelectorAll(".hypothesis")];
        const two = first === ALL ? [] : every.filter((one) => [first, second].includes(one.dataset.system));
        const visible = two.length ? two : every; // a sentence may lack both
        every.forEach((one) => (one.hidden = !visible.includes(one)));
        const keys = two.map((one) => [...one.querySelectorAll(".phrase")].map((phrase) => phrase.dataset.key));
        for (const phrase of pair.querySelectorAll(".phrase"))
          phrase.classList.toggle("shared", keys.length === 2 && keys.every((those) => those.includes(phrase.dataset.key)));
      }
      document.querySelectorAll(".only-pair").forEach((one) => (one.hidden = first === ALL));
    };
    pages.push(draw);
    draw();
  }
  const named = () => pairs.findIndex((pair) => `#${pair.id}` === location.hash);
  pager.hidden = pairs.length < 2 && systems.length < 2;
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
    // The browser's own tooltip would appear beside ours.
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

// Pictures as files: the drawing with the colours of a light page, and its numbers.
for (const figure of document.querySelectorAll("figure[data-csv]")) {
  const download = figure.querySelector(".download");
  download.hidden = false;
  for (const button of download.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const isTable = button.dataset.kind === "csv";
      const drawing = new XMLSerializer().serializeToString(figure.querySelector("svg"));
      const text = isTable ? figure.dataset.csv : drawing.replace(/var\(--c([0-9a-f]{6})\)/g, "#$1");
      const link = document.createElement("a");
      link.href = URL.createObjectURL(new Blob([text], { type: isTable ? "text/csv" : "image/svg+xml" }));
      link.download = `${figure.dataset.name}.${button.dataset.kind}`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }
}
