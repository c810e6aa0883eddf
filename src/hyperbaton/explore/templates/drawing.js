// Pictures of one translation: words with phrases as boxes, links as curves and jumps as arrows; or a grid.

const FONT = '15px system-ui, "Noto Sans", sans-serif';
const measuring = document.createElement("canvas").getContext("2d");
function textWidth(text, size = 15) {
  measuring.font = FONT.replace("15px", `${size}px`);
  return measuring.measureText(text).width;
}

const put = (tag, attributes, ...children) => make(`svg:${tag}`, attributes, ...children);
function picture(width, height, label, ...children) {
  return put("svg", { width: Math.ceil(width), height: Math.ceil(height), viewBox: `0 0 ${Math.ceil(width)} ${Math.ceil(height)}`, role: "group",
    "aria-label": label }, ...children);
}
const round = value => Math.round(value * 10) / 10;

/** Where the words of a line begin and end along an axis, given the length of each. */
function places(lengths, gap, start) {
  let at = start;
  return lengths.map(length => {
    const place = { begin: at, end: at + length, middle: at + length / 2 };
    at += length + gap;
    return place;
  });
}

function rowLengths(words, tags, translation, pad = 7, gap = 7) {
  const rows = words.map((word, k) => Math.max(textWidth(word), tags ? textWidth(tags[k] ?? "", 11) : 0) + 2 * pad);
  return { rows, targetRows: translation.target.map(word => textWidth(word) + 2 * pad), total: lengths => sum(lengths) + gap * lengths.length };
}

/** The width of a picture, and whether it is tall: then something fits beside it. */
function pictureSize(words, tags, translation, kind, width) {
  if (kind === "grid") {
    const left = Math.max(20, ...translation.target.map(word => textWidth(word, 13))) + 8;
    return { width: Math.min(width, left + 28 * words.length + 14), isTall: true };
  }
  const { rows, targetRows, total } = rowLengths(words, tags, translation);
  const needed = Math.max(total(rows), total(targetRows)) + 8;
  return needed <= width ? { width: needed, isTall: false } : { width: Math.min(width, 560), isTall: true };
}

/**
 * Words of both sides, in rows if they fit the width, otherwise in columns.
 * how: {width, marked (phrase numbers that are the same elsewhere), walls (words with a wall after them), onPhrase, onJump, onGap}
 */
function drawLinks(words, tags, translation, how) {
  const pad = 7, gap = 7, size = 15;
  const { rows, targetRows, total } = rowLengths(words, tags, translation, pad, gap);
  const inRows = Math.max(total(rows), total(targetRows)) + 8 <= how.width;
  const height = 28;
  const jumps = jumpsOf(translation);
  const arrow = jump => inRows ? Math.min(22 + 5 * Math.abs(jump.distance), 92) : Math.min(16 + (how.width > 500 ? 10 : 5) * Math.abs(jump.distance), how.width > 500 ? 130 : 70);
  const room = jumps.length ? Math.max(...jumps.map(arrow)) * 0.75 + 14 : 6;
  // Along (u): the direction of the words. Across (v): from the arrows over the source to the target.
  let source, target, across, extent;
  if (inRows) {
    const longest = Math.max(total(rows), total(targetRows));
    source = places(rows, gap, 4 + (longest - total(rows)) / 2);
    target = places(targetRows, gap, 4 + (longest - total(targetRows)) / 2);
    const box = tags ? height + 13 : height;
    across = { source: [room, room + box], target: [room + box + 64, room + box + 64 + height] };
    extent = { width: longest + 8, height: across.target[1] + 6 };
  } else {
    const longest = Math.max(words.length, translation.target.length) * (height - 2);
    source = places(words.map(() => height - 6), 4, 4 + (longest - words.length * (height - 2)) / 2);
    target = places(translation.target.map(() => height - 6), 4, 4 + (longest - translation.target.length * (height - 2)) / 2);
    const tagWidth = tags ? Math.max(...tags.map(tag => textWidth(tag, 11))) + 6 : 0;
    const wide = lengths => Math.min(Math.max(0, ...lengths), how.width * 0.4);
    const columns = [wide(words.map(word => textWidth(word, size))) + tagWidth + 2 * pad, wide(translation.target.map(word => textWidth(word, size))) + 2 * pad];
    const between = clamp(how.width - room - columns[0] - columns[1] - 8, 40, 190);
    across = { source: [room, room + columns[0]], target: [room + columns[0] + between, room + columns[0] + between + columns[1]] };
    extent = { width: across.target[1] + 4, height: longest + 8 };
  }
  const point = (u, v) => inRows ? `${round(u)} ${round(v)}` : `${round(v)} ${round(u)}`;
  const rect = (places, [begin, end], [top, bottom], name, inset) => {
    const u0 = places[begin].begin + inset, u1 = places[end - 1].end - inset, v0 = top + inset, v1 = bottom - inset;
    const box = inRows ? { x: u0, y: v0, width: u1 - u0, height: v1 - v0 } : { x: v0, y: u0, width: v1 - v0, height: u1 - u0 };
    return put("rect", { ...box, rx: 4, class: name });
  };
  const word = (text, place, [v0, v1], tag, end) => {
    const lang = languageOf(end ? "source" : "target");
    if (inRows) {
      return [put("text", { lang, x: round(place.middle), y: v0 + 19, "font-size": size, "text-anchor": "middle" }, text),
        tag && put("text", { x: round(place.middle), y: v0 + 35, class: "tag", "text-anchor": "middle" }, tag)];
    }
    const y = round(place.middle + 5);
    return end
      ? [put("text", { lang, x: round(v1 - pad), y, "font-size": size, "text-anchor": "end" }, text), tag && put("text", { x: round(v0 + pad), y, class: "tag" }, tag)]
      : [put("text", { lang, x: round(v0 + pad), y, "font-size": size }, text)];
  };

  const svg = picture(extent.width, extent.height, `${words.join(" ")} – ${translation.target.join(" ")}`);
  const [, bottom] = across.source, [top] = across.target, middle = (bottom + top) / 2;
  const curve = (from, to) => `M${point(from, bottom)}C${point(from, middle)} ${point(to, middle)} ${point(to, top)}`;
  const { source: owner, target: targetOwner } = ownersOf(translation);
  for (const link of translation.links ?? []) {
    svg.append(put("path", { class: "link", d: curve(source[link.source].middle, target[link.target].middle), "data-p": owner[link.source],
      "stroke-opacity": round(0.2 + 0.8 * link.confidence) },
    put("title", {}, `${words[link.source]} – ${translation.target[link.target]}, confidence ${shown(link.confidence, 2)}`)));
  }
  const linked = new Set((translation.links ?? []).map(link => owner[link.source]));
  const boxes = translation.boxes !== false;
  const depths = [];  // of rules in the gaps of others, whose boxes are smaller
  translation.phrases.forEach((phrase, p) => {
    depths[p] = phrase.parent >= 0 ? depths[phrase.parent] + (translation.phrases[phrase.parent].kind === "glue" ? 0 : 1) : 0;
    if (phrase.kind === "glue") return;  // its box is that of the rule that it adds
    const kind = kindOf(phrase.distance), inset = Math.min(2 * depths[p], 6);
    if (boxes && !linked.has(p) && phrase.target[1] > phrase.target[0]) {
      const centre = (places, [begin, end]) => (places[begin].begin + places[end - 1].end) / 2;
      svg.append(put("path", { class: "tie", "data-p": p, d: curve(centre(source, phrase.source), centre(target, phrase.target)) }));
    }
    const group = put("g", { class: `phrase ${kind}${how.marked?.has(p) ? " same" : ""}`, "data-p": p, tabindex: "0", role: "button",
      "aria-label": `${wordsOf(words, phrase.source)}: ${wordsOf(translation.target, phrase.target) || "nothing"}` });
    group.append(put("title", {}, about(words, translation, p)));
    group.append(rect(source, phrase.source, across.source, "box", inset));
    for (let i = phrase.source[0]; i < phrase.source[1]; i++) if (owner[i] === p) group.append(...word(words[i], source[i], across.source, tags?.[i], true).filter(Boolean));
    if (boxes && phrase.target[1] > phrase.target[0]) {
      group.append(rect(target, phrase.target, across.target, "box", inset));
      for (let j = phrase.target[0]; j < phrase.target[1]; j++) if (targetOwner[j] === p) group.append(...word(translation.target[j], target[j], across.target).filter(Boolean));
    }
    svg.append(group);
  });
  words.forEach((text, i) => {
    if (owner[i] === undefined) svg.append(put("g", { class: "left-out" }, ...word(text, source[i], across.source, tags?.[i], true).filter(Boolean)));
  });
  translation.target.forEach((text, j) => {
    if (!boxes || targetOwner[j] === undefined) {
      svg.append(put("g", boxes ? { class: "left-out" } : { class: "phrase", "data-p": targetOwner[j] }, ...word(text, target[j], across.target).filter(Boolean)));
    }
  });
  const labels = [], numbers = [];  // where numbers stand already, and what stands there
  for (const jump of [...jumps].sort((x, y) => Math.abs(x.distance) - Math.abs(y.distance))) {
    const edge = across.source[0] - 1, lift = arrow(jump), text = signed(jump.distance, 0);
    const start = jump.from < 0 ? source[0].begin : source[jump.from].end - 5, end = source[jump.to].begin + 6;
    const [at, half] = freePlace(t => [start + (3 * t * t - 2 * t * t * t) * (end - start), 3 * t * (1 - t) * lift], labels, inRows);
    const arc = `M${point(start, edge)}C${point(start, edge - lift)} ${point(end, edge - lift)} ${point(end, edge - 4)}`;
    const part = (attributes, ...children) => {
      const group = put("g", { class: `jump ${kindOf(jump.distance)}${how.onJump ? " pointed" : ""}`, "data-p": jump.at, ...attributes },
        put("title", {}, `${KINDS[kindOf(jump.distance)]}, d = ${text}${how.onJump ? ": click to forbid it" : ""}`), ...children);
      if (how.onJump) group.addEventListener("click", () => how.onJump(jump));
      return group;
    };
    svg.append(part({}, how.onJump && put("path", { class: "reach", d: arc }), put("path", { d: arc }),
      put("path", { class: "head", d: `M${point(end, edge)}L${point(end - 3.5, edge - 7)}L${point(end + 3.5, edge - 7)}z` })));
    const [x, y] = inRows ? [at, edge - half] : [edge - half, at];
    const acts = how.onJump ? { tabindex: "0", role: "button", "aria-label": `Forbid the jump to ${words[jump.to]}` } : {};
    numbers.push(part(acts, put("rect", { class: "paper", x: round(x - 11), y: round(y - 7), width: 22, height: 13 }),
      put("text", { x: round(x), y: round(y + 4), "text-anchor": "middle" }, text)));
    if (how.onJump) numbers.at(-1).addEventListener("keydown", event => { if (event.key === "Enter") how.onJump(jump); });
  }
  svg.append(...numbers);  // last: no arrow runs through a number
  for (const i of how.walls ?? []) {
    if (i + 1 >= words.length) continue;
    const u = (source[i].end + source[i + 1].begin) / 2;
    svg.append(put("path", { class: "wall", d: `M${point(u, across.source[0] - 4)}L${point(u, across.source[1] + 4)}` },
      put("title", {}, "everything on this side before anything on the other")));
  }
  return litUp(svg, how);
}

/** Source words as columns, target words as rows; boxes are phrases, dots links, the line the visit order. */
function drawGrid(words, tags, translation, how) {
  const labels = Math.max(20, ...translation.target.map(word => textWidth(word, 13)));
  const left = Math.min(labels, how.width * 0.32) + 8;
  const cell = clamp((how.width - left - 14) / Math.max(words.length, 1), 9, 28);
  const size = clamp(cell - 2, 9, 14), targetCell = Math.max(cell, size + 3);
  const top = Math.min(Math.max(20, ...words.map(word => textWidth(word, size))), 130) * 0.9 + 12;
  const width = left + cell * words.length + 14, height = top + targetCell * translation.target.length + 8;
  const x = i => round(left + cell * i), y = j => round(top + targetCell * j);
  const svg = picture(width, height, `${words.join(" ")} – ${translation.target.join(" ")}, as a grid`);
  for (let i = 0; i <= words.length; i++) svg.append(put("path", { class: "rule", d: `M${x(i)} ${y(0)}V${y(translation.target.length)}` }));
  for (let j = 0; j <= translation.target.length; j++) svg.append(put("path", { class: "rule", d: `M${x(0)} ${y(j)}H${x(words.length)}` }));
  const { source: owner, target: targetOwner } = ownersOf(translation);
  words.forEach((word, i) => svg.append(put("text", { class: "phrase", lang: languageOf("source"), "data-p": owner[i] ?? "", "font-size": size, x: x(i) + cell / 2, y: top - 5,
    transform: `rotate(-62 ${round(x(i) + cell / 2)} ${round(top - 5)})` }, word)));
  translation.target.forEach((word, j) => svg.append(put("text", { class: "phrase", lang: languageOf("target"), "data-p": targetOwner[j] ?? "", "font-size": Math.min(size, 13), x: left - 5,
    y: round(y(j) + targetCell / 2 + 4), "text-anchor": "end" }, word)));
  const boxes = translation.boxes !== false;
  translation.phrases.forEach((phrase, p) => {
    const [b, e] = phrase.source, [f, t] = phrase.target;
    if (!boxes || f === t || phrase.kind === "glue") return;
    svg.append(put("g", { class: `phrase ${kindOf(phrase.distance)}`, "data-p": p, tabindex: "0", role: "button",
      "aria-label": `${wordsOf(words, phrase.source)}: ${wordsOf(translation.target, phrase.target)}` },
    put("title", {}, about(words, translation, p)),
    put("rect", { class: "box", x: x(b) + 1, y: y(f) + 1, width: round(cell * (e - b) - 2), height: round(targetCell * (t - f) - 2), rx: 3 })));
  });
  const dot = Math.max(2, cell / 6);
  if (how.reference) {
    const same = translation.target.join(" ") === how.reference.target.join(" ");
    for (const [i, j] of same ? how.reference.links : []) svg.append(put("circle", { class: "ring", cx: x(i) + cell / 2, cy: y(j) + targetCell / 2, r: round(dot * 1.8) }));
  }
  for (const link of translation.links ?? []) {
    svg.append(put("circle", { class: "dot link", "data-p": owner[link.source], cx: round(x(link.source) + cell / 2), cy: round(y(link.target) + targetCell / 2),
      r: round(dot), "fill-opacity": round(0.25 + 0.75 * link.confidence), stroke: "none" }));
  }
  let at = null;
  for (const phrase of isDerivation(translation) ? [] : translation.phrases) {
    if (phrase.target[0] === phrase.target[1]) continue;
    const start = [x(phrase.source[0]) + cell * 0.3, y(phrase.target[0]) + targetCell * 0.3];
    const end = [x(phrase.source[1]) - cell * 0.3, y(phrase.target[1]) - targetCell * 0.3];
    const kind = kindOf(phrase.distance);
    if (at) {
      const angle = Math.atan2(start[1] - at[1], start[0] - at[0]);
      const side = turn => `${round(start[0] - 7 * Math.cos(angle + turn))} ${round(start[1] - 7 * Math.sin(angle + turn))}`;
      svg.append(put("path", { class: `step ${kind}`, d: `M${at.map(round).join(" ")}L${start.map(round).join(" ")}` },
        put("title", {}, `${KINDS[kind]}, d = ${signed(phrase.distance, 0)}`)));
      svg.append(put("path", { class: `head ${kind}`, d: `M${start.map(round).join(" ")}L${side(0.45)}L${side(-0.45)}z` }));
    }
    at = boxes ? end : start;
  }
  return litUp(svg, how);
}

/** A place on an arrow for its number, as far as possible from other numbers; `curve` gives the position of the arrow at t. */
function freePlace(curve, taken, inRows) {
  const [width, height] = inRows ? [24, 13] : [13, 24];
  const overlap = place => sum(taken.map(other => Math.max(0, width - Math.abs(place[0] - other[0])) * Math.max(0, height - Math.abs(place[1] - other[1]))));
  const candidates = [0.5, 0.42, 0.58, 0.34, 0.66, 0.27, 0.73, 0.2, 0.8].map(curve);
  const place = candidates.reduce((best, one) => overlap(one) < overlap(best) ? one : best);
  taken.push(place);
  return place;
}

/** The description of a phrase, shown on hovering. */
function about(words, translation, p) {
  const phrase = translation.phrases[p];
  const lines = [`${wordsOf(words, phrase.source)} → ${wordsOf(translation.target, phrase.target) || "∅"}`,
    phrase.rule ? phrase.rule.join(" → ")
      : phrase.distance ? `${KINDS[kindOf(phrase.distance)]}, d = ${signed(phrase.distance, 0)}` : "next word, d = 0"];
  return lines.concat(Object.entries(phrase.weighted ?? {}).map(([name, value]) => `${signed(value, 3)}  ${name}`)).join("\n");
}

/** Highlight both sides of a phrase while it has the pointer or the focus, and permanently once selected. */
function litUp(svg, how) {
  const light = (p, isPointed = true) => {
    svg.classList.toggle("lit", isPointed && p !== null && p !== "");
    for (const part of svg.querySelectorAll("[data-p]")) part.classList.toggle("on", p !== null && p !== "" && part.dataset.p === String(p));
  };
  const chosen = how.selected ?? null;
  const of = event => event.target.closest?.("[data-p]")?.dataset.p ?? null;
  svg.addEventListener("pointerover", event => light(of(event) ?? chosen, of(event) !== null));
  svg.addEventListener("pointerleave", () => light(chosen, false));
  svg.addEventListener("focusin", event => light(of(event)));
  svg.addEventListener("focusout", () => light(chosen, false));
  const choose = event => {
    const p = event.target.closest?.(".phrase[data-p]")?.dataset.p;
    if (p && how.onPhrase) how.onPhrase(Number(p));
  };
  svg.addEventListener("click", choose);
  svg.addEventListener("keydown", event => {
    if (event.key === "Enter" || event.key === " ") { event.preventDefault(); choose(event); }
  });
  light(chosen, false);
  return svg;
}

const legend = () => make("div", { class: "legend" },
  Object.entries(KINDS).map(([kind, text]) => make("span", {}, make("i", { style: `background: var(--${kind})` }), text)));

/** A bar on either side of a middle line. */
function signedBar(value, most) {
  const width = most ? 50 * Math.abs(value) / most : 0;
  return make("div", { class: "bar signed" }, make("div", { class: value < 0 ? "minus" : "plus", style: `width: ${width}%` }));
}

/** Weighted features as a table; with a second set, both and the difference. */
function featureTable(first, second = null, titles = ["score", "", ""]) {
  const names = [...new Set([...Object.keys(first), ...Object.keys(second ?? {})])];
  const value = (set, name) => set[name] ?? 0;
  const drawn = name => second ? value(second, name) - value(first, name) : value(first, name);
  names.sort((x, y) => Math.abs(drawn(y)) - Math.abs(drawn(x)));
  const most = Math.max(0, ...names.map(name => Math.abs(drawn(name))));
  const cells = (a, b) => second
    ? [make("td", { class: "number" }, shown(a, 2)), make("td", { class: "number" }, shown(b, 2)), make("td", { class: "number" }, signed(b - a, 2))]
    : [make("td", { class: "number" }, signed(a, 3))];
  const head = second ? [titles[0], titles[1], "difference"] : ["weighted"];
  const total = set => sum(names.map(name => value(set, name)));
  return make("table", { class: `bars features${second ? " difference" : ""}` },
    make("thead", {}, make("tr", {}, make("th", {}, "feature"), head.map(text => make("th", { class: "number" }, text)), make("th"))),
    make("tbody", {},
      names.map(name => make("tr", {}, make("th", {}, name), cells(value(first, name), value(second ?? {}, name)), make("td", { class: "drawn" }, signedBar(drawn(name), most)))),
      make("tr", {}, make("th", {}, make("b", {}, "all")), cells(total(first), total(second ?? {})), make("td"))));
}
