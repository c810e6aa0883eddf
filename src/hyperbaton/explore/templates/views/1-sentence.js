// One translation: links, phrases and jumps, or the grid; details of it, and of the selected phrase.

/** A frame for a picture; `drawing` is called with the available width. */
function frame(drawing) {
  const box = make("div", { class: "picture" });
  queueMicrotask(() => box.replaceChildren(drawing(Math.max(box.clientWidth, 240))));
  return box;
}

function translationPicture(sentence, translation, how = {}) {
  return frame(width => (how.draw === "grid" ? drawGrid : drawLinks)(sentence.source, sentence.tags, translation, { ...how, width }));
}

/** A picture with something below it, or beside it if it is tall and there is room. */
function withPicture(main, sentence, translation, how, ...rest) {
  const width = main.clientWidth, size = pictureSize(sentence.source, sentence.tags, translation, how.draw, width);
  const picture = translationPicture(sentence, translation, how);
  const isBeside = size.isTall && size.width + 420 <= width;
  if (isBeside) picture.style.flexBasis = `${size.width}px`;
  return make("div", { class: isBeside ? "beside" : "below" }, picture, make("div", { class: "rest" }, ...rest));
}

const facts = pairs => make("ul", { class: "facts" }, pairs.filter(pair => pair[1] !== undefined && pair[1] !== null && pair[1] !== "")
  .map(([name, value]) => make("li", {}, `${name} `, make("b", {}, value))));

function factsOf(sentence, translation) {
  const verdict = VERDICTS[translation.verdict];
  return facts([
    ["score", translation.score === undefined ? "" : shown(translation.score, 2)],
    ["probability among the n best", translation.confidence === undefined ? "" : percent(translation.confidence)],
    ["order loss", translation.order_loss === undefined ? "" : percent(translation.order_loss)],
    ...Object.entries(translation.scores ?? {}).map(([name, value]) => [name, shown(value, 1)]),
    ["longest jump", longestJump(translation)],
    ["", verdict && verdict[0]],
    ["", translation.limits_lifted ? "the limits were lifted" : ""],
  ]);
}

views.sentence = {
  title: "Sentence",
  draw(main) {
    const chosen = sentence();
    if (!chosen) return main.append(nothing());
    const translation = translationOf(chosen, system());
    const p = state.p !== "" && translation.phrases[Number(state.p)] ? Number(state.p) : null;
    if (server) main.append(finishedSection(chosen));
    main.append(
      make("div", { class: "row" },
        toggle("Links", state.draw === "links", () => go({ draw: "links" })),
        toggle("Grid", state.draw === "grid", () => go({ draw: "grid" })),
        legend()));
    const sides = make("div", { class: "sides" });
    if (p !== null && Object.keys(translation.phrases[p].weighted).length) {
      const phrase = translation.phrases[p];
      sides.append(make("section", {},
        make("h2", {}, bothSides(chosen, translation, phrase)),
        facts([["step", p + 1], ...phraseFacts(phrase)]),
        featureTable(phrase.weighted),
        make("p", {}, make("a", { href: address({ view: "decisions", step: p }) }, "What was expected at this step"))));
    }
    if (translation.weighted) sides.append(make("section", {}, make("h2", {}, "Feature scores"), featureTable(translation.weighted)));
    if (translation.nbest?.length > 1) {
      sides.append(make("section", {}, make("h2", {}, "Alternatives"), make("ol", {}, translation.nbest.slice(0, 5).map(other =>
        make("li", {}, differing(other.target, translation.target), " ", make("span", { class: "quiet" }, `${shown(other.score, 2)}, ${percent(other.confidence)}`))))));
    }
    main.append(withPicture(main, chosen, translation,
      { draw: state.draw, selected: p, reference: chosen.reference, onPhrase: n => go({ p: n === p ? "" : n }) },
      factsOf(chosen, translation), system() === REFERENCE ? null : referenceLine(chosen), sides));
  },
};

const referenceLine = sentence => sentence.reference
  && make("p", { class: "words" }, make("span", { class: "quiet" }, "Reference: "), inLanguage("target", sentence.reference.target.join(" ")));

/** Words, those marked that are not in the longest common subsequence with others. */
function differing(words, others) {
  const table = Array.from({ length: words.length + 1 }, () => new Uint16Array(others.length + 1));
  for (let i = words.length - 1; i >= 0; i--) {
    for (let j = others.length - 1; j >= 0; j--) {
      table[i][j] = words[i] === others[j] ? table[i + 1][j + 1] + 1 : Math.max(table[i + 1][j], table[i][j + 1]);
    }
  }
  const parts = [];
  for (let i = 0, j = 0; i < words.length; i++) {
    while (j < others.length && words[i] !== others[j] && table[i][j + 1] >= table[i + 1][j]) j++;
    const same = j < others.length && words[i] === others[j];
    parts.push(same ? words[i] : make("mark", {}, words[i]), " ");
    if (same) j++;
  }
  return make("span", { class: "words", lang: languageOf("target") }, parts);
}

const nothing = () => make("p", {}, server ? "Type a sentence above, and translate it." : "There are no sentences.");
