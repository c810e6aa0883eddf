// Constraints on a translation: pin a phrase, force a translation, forbid a jump; the search is repeated and compared.

const NO_EDITS = { demands: [], zones: [], walls: [] };
const edits = () => { try { return { ...NO_EDITS, ...JSON.parse(state.edits || "{}") }; } catch { return NO_EDITS; } };
const editsText = changed => changed.demands.length + changed.zones.length + changed.walls.length ? JSON.stringify(changed) : "";
const overlaps = ([b, e], [f, t]) => b < t && f < e;

/** Demands with one more; those that it overlaps are removed. */
function withDemand(begin, end, text) {
  const now = edits();
  return { ...now, demands: [...now.demands.filter(demand => !overlaps(demand, [begin, end])), [begin, end, text]] };
}

/**
 * The word after which a wall makes a jump impossible. For a jump back: after the skipped phrase. For a jump ahead:
 * before the word that it reaches or, if everything in between is translated, before that part.
 */
function wallAgainst(jump, translation) {
  if (jump.distance > 0) return jump.last;
  const done = new Set(movesOf(translation).slice(0, jump.n).flatMap(move => wordNumbers([move.to, move.last + 1])));
  const between = wordNumbers([jump.from + 1, jump.to]);
  return between.every(word => done.has(word)) ? Math.max(jump.from, 0) : jump.to - 1;
}

views["what-if"] = {
  title: "What if",
  draw(main) {
    if (!server) return main.append(needsServer());
    const chosen = sentence();
    if (!chosen) return main.append(nothing());
    const now = edits(), set = changed => go({ edits: editsText(changed), p: "" });
    const before = translationOf(chosen, ownSystem());
    const key = `${chosen.id} ${ownSystem()} ${state.edits}`;
    const after = state.edits ? whatIfs.get(key) : before;
    if (!after) again(key, chosen, now);
    const translation = after ?? before;
    const p = state.p !== "" && translation.phrases[Number(state.p)] ? Number(state.p) : null;
    main.append(make("p", { class: "quiet" }, "Click a phrase to pin it or to force another translation, a jump to forbid it."),
      translationPicture(chosen, translation, { selected: p, walls: now.walls, onPhrase: n => go({ p: n === p ? "" : n }),
        onJump: jump => set({ ...now, walls: [...new Set([...now.walls, wallAgainst(jump, translation)])].sort((x, y) => x - y) }) }));
    if (p !== null) {
      const phrase = translation.phrases[p], [begin, end] = phrase.source, target = wordsOf(translation.target, phrase.target);
      const input = make("input", { value: target, lang: languageOf("target"), "aria-label": "Translation", id: "forced" });
      const force = () => input.value.trim() && set(withDemand(begin, end, input.value.trim()));
      main.append(make("div", { class: "row", id: "actions" }, make("b", { lang: languageOf("source") }, wordsOf(chosen.source, phrase.source)),
        make("button", { type: "button", click: () => set(withDemand(begin, end, target)), disabled: !target }, "Pin"),
        input, make("button", { type: "button", click: force }, "Force this translation"),
        end - begin > 1 && make("button", { type: "button", click: () => set({ ...now, zones: [...now.zones, [begin, end]] }) }, "Keep together")));
      input.addEventListener("keydown", event => { if (event.key === "Enter") { event.preventDefault(); force(); } });
    }
    const chip = (changed, ...text) => make("button", { type: "button", title: "Take it back", click: () => set(changed) }, ...text, " ×");
    const words = span => inLanguage("source", wordsOf(chosen.source, span));
    const without = (list, at) => list.filter((_, k) => k !== at);
    main.append(make("div", { class: "chips", id: "demands" },
      now.demands.map(([b, e, text], k) => chip({ ...now, demands: without(now.demands, k) }, words([b, e]), " → ", inLanguage("target", text))),
      now.zones.map(([b, e], k) => chip({ ...now, zones: without(now.zones, k) }, "together: ", words([b, e]))),
      now.walls.map((word, k) => chip({ ...now, walls: without(now.walls, k) }, "wall after ", words([word, word + 1]))),
      state.edits ? make("button", { type: "button", click: () => set(NO_EDITS) }, "Take all back") : make("span", { class: "quiet" }, "Nothing is demanded yet.")));
    if (!after) return main.append(make("p", { class: "quiet" }, "Translating…"));
    if (state.edits) {
      main.append(make("h2", {}, "The difference"),
        make("p", {}, make("span", { class: "quiet" }, "Before: "), differing(before.target, after.target)),
        make("p", {}, make("span", { class: "quiet" }, "Now: "), differing(after.target, before.target)),
        factsOf(chosen, after),
        make("p", {}, after.score === null ? "There is no translation that meets the demands." : `It costs ${shown(before.score - after.score, 3)}.`),
        featureTable(before.weighted, after.weighted, ["before", "now"]));
    }
  },
};

const whatIfs = new Map();
async function again(key, chosen, now) {
  if (whatIfs.has(key)) return;
  try {
    const constraints = Array.from({ length: chosen.part + 1 }, () => NO_EDITS).map((none, number) => ({ sentence: number, ...(number === chosen.part ? now : none) }));
    const found = await ask({ text: chosen.text, constraints });
    whatIfs.set(key, found.translations[0].sentences[chosen.part]);
    say("");
  } catch (error) {
    say(error.message, true);
    return;
  }
  draw();
}

function needsServer() {
  return make("section", {},
    make("h2", {}, "This needs a server"),
    make("p", {}, "To pin a phrase, forbid a jump or force a translation, the system must translate again. This file has the translations of a run, "
      + "and no system. Serve the system, and open its page:"),
    make("pre", {}, "hyperbaton serve SYSTEM --port 8080"),
    make("p", {}, "then ", make("a", { href: `http://127.0.0.1:8080/#view=what-if&text=${encodeURIComponent(sentence()?.source.join(" ") ?? "")}` },
      "http://127.0.0.1:8080/ with this sentence"), "."));
}
