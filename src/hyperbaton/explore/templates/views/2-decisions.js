// Step by step: the expectation of each reordering model, the choice of the search, and the reference.

const SIDES = { before: "towards the phrase before it", after: "towards the phrase after it" };

function bars(rows) {
  return make("table", { class: "bars" }, make("tbody", {}, rows.map(row => make("tr", {
    class: [row.chosen && "chosen", row.reference && "reference", row.done && "done"].filter(Boolean).join(" ") },
  make("th", { lang: row.isWord ? languageOf("source") : null }, row.name), make("td", { class: "drawn" }, make("div", { class: "bar" }, make("div", { style: `width: ${100 * clamp(row.value, 0, 1)}%` }))),
  make("td", { class: "number" }, percent(row.value), row.score !== undefined && make("span", { class: "quiet" }, ` ${signed(row.score, 2)}`)),
  make("td", { class: "mark" }, [row.chosen && "chosen", row.reference && "reference"].filter(Boolean).join(", "))))));
}

/** The bars of an expectation: classes, or source words, without unlikely ones that were not chosen. */
function expectationBars(expectation, sentence, done, everything) {
  if (expectation.shape === "orientation") {
    return bars(Object.entries(expectation.classes).map(([name, value]) =>
      ({ name, value, chosen: name === expectation.chosen, reference: name === expectation.reference })));
  }
  const words = Array.isArray(expectation.words) ? expectation.words.map((value, at) => [at, value])
    : Object.entries(expectation.words).map(([at, value]) => [Number(at), value]);
  const rows = words.map(([at, value]) => ({
    at, value, isWord: at < sentence.source.length, name: at < sentence.source.length ? sentence.source[at] : "end of sentence",
    chosen: at === expectation.chosen, reference: at === expectation.reference, done: done.has(at), score: expectation.scores?.[at],
  }));
  return bars(everything ? rows : rows.filter(row => row.chosen || row.reference || row.value >= 0.01));
}

function reasonsOf(expectation, sentence) {
  const bar = name => expectation.shape === "orientation" ? name
    : Number(name) < sentence.source.length ? inLanguage("source", sentence.source[Number(name)]) : "end of sentence";
  return Object.entries(expectation.reasons ?? {}).map(([name, rows]) => make("div", {},
    make("span", { class: "quiet" }, "For and against ", bar(name)),
    make("ul", { class: "reasons" }, rows.map(([feature, weight]) => make("li", {}, `${signed(weight, 2)}  ${feature}`)))));
}

views.decisions = {
  title: "Decisions",
  draw(main) {
    const chosen = sentence();
    if (!chosen) return main.append(nothing());
    const translation = translationOf(chosen, ownSystem());
    const step = clamp(Number(state.step) || 0, 0, translation.phrases.length - 1);
    const phrase = translation.phrases[step];
    if (!phrase) return main.append(make("p", {}, "This sentence has no translation."));
    const nested = isDerivation(translation);
    const done = new Set(nested ? [] : translation.phrases.slice(0, step).flatMap(one => wordNumbers(one.source)));
    const steps = [
      make("ol", { class: "steps", "aria-label": "Steps" }, translation.phrases.map((one, n) => make("li", {},
        make("button", { type: "button", class: kindOf(one.distance), "aria-pressed": String(n === step), click: () => go({ step: n }) },
          `${n + 1} `, inLanguage("target", wordsOf(translation.target, one.target) || "∅"))))),
      make("h2", {}, `Step ${step + 1} of ${translation.phrases.length}: `, bothSides(chosen, translation, phrase)),
      facts(phraseFacts(phrase))];
    const sides = make("div", { class: "sides" });
    const expected = translation.expectations?.[step] ?? [];
    for (const expectation of expected) {
      const about = expectation.shape === "orientation" ? ["where “", inLanguage("source", wordsOf(chosen.source, expectation.span)), `” goes, ${SIDES[expectation.side]}`]
        : expectation.from === -1 ? "which source word comes first"
          : expectation.shape === "step" ? "which of the words that are left comes next: shares, and scores of steps as long as this one" : ["which source word comes after “", inLanguage("source", chosen.source[expectation.from]), "”"];
      const long = expectation.shape !== "orientation" && !state.far;
      sides.append(make("section", { class: "card" }, make("h3", {}, expectation.model), make("p", { class: "quiet" }, about),
        expectationBars(expectation, chosen, done, Boolean(state.far)),
        long && make("p", {}, make("button", { type: "button", click: () => go({ far: "1" }) }, "Show all words")),
        reasonsOf(expectation, chosen)));
    }
    if (!expected.length) {
      const models = systemOf(ownSystem())?.models ?? [];
      sides.append(make("p", { class: "card" }, nested ? "No order model was asked about a word of this rule." : models.length
        ? `The models of this system (${models.join(", ")}) do not tell what they expected here; their scores are among the features.`
        : "This system has no order model but the distance."));
    }
    sides.append(make("section", { class: "card" }, make("h3", {}, "Features of this step"), featureTable(phrase.weighted)));
    main.append(withPicture(main, chosen, translation, { selected: step, onPhrase: n => go({ step: n }) }, steps, sides, referenceLine(chosen)));
    main.lastChild.classList.add("picture-last");
  },
  step(by) {
    const n = translationOf(sentence(), ownSystem()).phrases.length;
    go({ step: clamp((Number(state.step) || 0) + by, 0, n - 1) });
  },
};
