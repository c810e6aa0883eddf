// Jumps of texts and systems: by distance and by the tag of the word reached; two of them overlaid.

// Distances are d = last word of the previous phrase + 1 − first word of the new one: 0 is the next word, forward is negative.
const FARTHEST = { all: [-8, 8], tag: [-4, 6] };  // a jump of 5 words either way

/** The items to compare: those of the data, or else what was translated here. */
function corpora() {
  if (data.corpora.length) return data.corpora;
  return data.systems.map(one => {
    const distances = {}, by_tag = {};
    for (const each of data.sentences) {
      const translation = translationOf(each, one.name);
      for (const { distance, to } of translation ? movesOf(translation) : []) {
        const tag = tagOf(each, to);
        distances[distance] = (distances[distance] ?? 0) + 1;
        if (tag) {
          const clipped = clamp(distance, ...FARTHEST.tag);
          by_tag[tag] ??= {};
          by_tag[tag][clipped] = (by_tag[tag][clipped] ?? 0) + 1;
        }
      }
    }
    return { name: one.name, kind: "system", distances, by_tag };
  });
}

/** Shares by distance, farther ones counted with the farthest. */
function shares(counts, ends) {
  const clipped = new Map();
  let total = 0;
  for (const [distance, n] of Object.entries(counts)) {
    const at = clamp(Number(distance), ...ends);
    clipped.set(at, (clipped.get(at) ?? 0) + n);
    total += n;
  }
  return { total, of: distance => total ? (clipped.get(distance) ?? 0) / total : 0 };
}

const distanceLabel = (d, [least, most]) => (d === least ? "≤" : d === most ? "≥" : "") + signed(d, 0);
/** All distances; 1 would be the same word again. */
const distanceRange = ([least, most]) => Array.from({ length: most - least + 1 }, (_, k) => least + k).filter(d => d !== 1);

function drawDistances(first, second, width, logarithmic) {
  const jumps = distanceRange(FARTHEST.all), left = 44, height = 250, bottom = 36, top = 16;
  const a = shares(first.distances, FARTHEST.all), b = second && shares(second.distances, FARTHEST.all);
  const most = Math.max(0.01, ...jumps.map(jump => Math.max(a.of(jump), b ? b.of(jump) : 0)));
  const least = 0.001;
  const scale = share => logarithmic ? Math.max(0, Math.log(Math.max(share, least) / least) / Math.log(most / least)) : share / most;
  const total = Math.min(width, 1500), step = (total - left - 6) / jumps.length, y = share => top + (height - top - bottom) * (1 - scale(share));
  const svg = picture(total, height, `Jumps of ${first.name}${second ? ` and ${second.name}` : ""}`);
  const ticks = logarithmic ? [0.001, 0.01, 0.1, 1].filter(tick => tick <= most * 1.01) : [0, most / 2, most];
  for (const tick of ticks) {
    svg.append(put("path", { class: "rule", d: `M${left} ${round(y(tick))}H${round(total - 6)}` }),
      put("text", { class: "axis", x: left - 5, y: round(y(tick) + 4), "text-anchor": "end" }, percent(tick)));
  }
  jumps.forEach((jump, k) => {
    const x = left + k * step, base = height - bottom;
    const title = put("title", {}, `d = ${distanceLabel(jump, FARTHEST.all)}: ${first.name} ${percent(a.of(jump))}${b ? `, ${second.name} ${percent(b.of(jump))}` : ""}`);
    svg.append(put("g", {}, title,
      put("rect", { x: round(x), y: top, width: round(step), height: base - top, fill: "transparent" }),
      put("rect", { class: "first", x: round(x + step * 0.14), y: round(y(a.of(jump))), width: round(step * 0.72), height: round(base - y(a.of(jump))), "fill-opacity": 0.75 }),
      b && b.of(jump) > 0 && put("path", { class: "second", d: `M${round(x + step * 0.05)} ${base}V${round(y(b.of(jump)))}H${round(x + step * 0.95)}V${base}` })));
    if (step > 26 || jump % 2 === 0) {
      svg.append(put("text", { class: "axis", x: round(x + step / 2), y: height - 20, "text-anchor": "middle" }, step > 26 ? distanceLabel(jump, FARTHEST.all) : signed(jump, 0)));
    }
  });
  svg.append(put("text", { class: "axis", x: round((left + total) / 2), y: height - 4, "text-anchor": "middle" }, "distance d: 0 is the next source word, negative is forward"));
  return svg;
}

/** Shares of jumps by tag; with a second text, the difference. */
function drawHeat(first, second, width) {
  const tags = Object.keys(first.by_tag), jumps = distanceRange(FARTHEST.tag);
  const left = Math.max(30, ...tags.map(tag => textWidth(tag, 13))) + 8, cell = clamp((width - left - 4) / jumps.length, 18, 120), row = 25;
  const svg = picture(left + cell * jumps.length + 4, row * tags.length + 24, `Jumps by tag, ${first.name}${second ? ` against ${second.name}` : ""}`);
  jumps.forEach((jump, k) => svg.append(put("text", { class: "axis", x: round(left + cell * (k + 0.5)), y: 13, "text-anchor": "middle" },
    cell > 26 ? distanceLabel(jump, FARTHEST.tag) : signed(jump, 0))));
  tags.forEach((tag, at) => {
    const a = shares(first.by_tag[tag], FARTHEST.tag), b = second && shares(second.by_tag[tag] ?? {}, FARTHEST.tag);
    svg.append(put("text", { x: left - 6, y: 20 + row * at + 17, "font-size": 13, "text-anchor": "end" }, tag));
    jumps.forEach((jump, k) => {
      const value = b ? a.of(jump) - b.of(jump) : a.of(jump);
      const colour = b ? (value < 0 ? "--forward" : "--back") : "--ink";
      const strength = b ? Math.min(1, Math.abs(value) * 2.5) : Math.sqrt(value) * 0.9;
      const x = round(left + cell * k), y = 20 + row * at;
      svg.append(put("g", { class: "pointed", role: "button", tabindex: "0", "aria-label": `${tag} ${jump}`, "data-tag": tag, "data-jump": jump },
        put("title", {}, `${tag}, d = ${distanceLabel(jump, FARTHEST.tag)}: ${first.name} ${percent(a.of(jump))}${b ? `, ${second.name} ${percent(b.of(jump))}` : ""}`),
        put("rect", { class: "cell", x, y, width: round(cell), height: row, fill: "var(--shade)" }),
        put("rect", { class: "cell box-less", x, y, width: round(cell), height: row, style: `fill: var(${colour})`, "fill-opacity": round(strength * 10) / 10 }),
        cell > 30 && Math.abs(value) >= 0.005 && put("text", { x: round(x + cell / 2), y: y + 17, "font-size": 11, "text-anchor": "middle",
          style: strength > 0.55 ? "fill: var(--paper)" : null }, b ? signed(100 * value, 0) : shown(100 * value, 0))));
    });
  });
  const choose = event => {
    const chosen = event.target.closest("[data-tag]");
    if (chosen) go({ view: "list", to: chosen.dataset.tag, from: "", jump: Math.abs(Number(chosen.dataset.jump)) });
  };
  svg.addEventListener("click", choose);
  svg.addEventListener("keydown", event => { if (event.key === "Enter") choose(event); });
  return svg;
}

views.corpus = {
  title: "Corpus",
  draw(main) {
    const all = corpora();
    if (!all.length || !data.sentences.length) return main.append(nothing());
    const names = all.map(one => one.name), named = name => all.find(one => one.name === name);
    const first = named(state.ca) ?? named("test reference") ?? all[0];
    const second = state.cb === "none" ? null : named(state.cb) ?? (state.ca ? null : named(ownSystem()));
    const other = second === first ? null : second;
    main.append(make("div", { class: "row" },
      select("Jumps of", names, first.name, ca => go({ ca, cb: other?.name ?? "none" })),
      select("over those of", [["none", "nothing"], ...names.filter(name => name !== first.name)], other?.name ?? "none", cb => go({ ca: first.name, cb })),
      checkbox("logarithmic", Boolean(state.log), on => go({ log: on ? "1" : "" }))),
    make("h2", {}, "How far"),
    make("div", { class: "legend" }, make("span", {}, make("i", { style: "background: var(--back)" }), `${first.name}, ${sum(Object.values(first.distances))} jumps`),
      other && make("span", {}, make("i", { style: "background: var(--forward)" }), `${other.name}, ${sum(Object.values(other.distances))} jumps`)),
    frame(width => drawDistances(first, other, width, Boolean(state.log))));
    if (Object.keys(first.by_tag).length) {
      main.append(make("h2", {}, "By the tag of the word that is reached"),
        make("p", { class: "quiet" }, other ? `In percent of a tag's jumps: ${first.name} minus ${other.name}. Blue: more in ${first.name}; red: more in ${other.name}.`
          : "In percent of a tag's jumps.", " A cell leads to the sentences that have such jumps."),
        frame(width => drawHeat(first, other, width)));
    } else main.append(make("p", { class: "quiet" }, "The text has no tags, so that jumps cannot be shown by tag."));
  },
};
