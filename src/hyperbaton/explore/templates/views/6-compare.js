// Two systems side by side: the same sentence, the differences, and the features responsible.

/** The items to compare: systems, and with a server the n best translations. */
function readings(sentence) {
  const all = systemNames().map(name => [name, sentence.translations[name]]);
  if (server || data.systems.length < 2) {
    (translationOf(sentence, ownSystem())?.nbest ?? []).forEach((one, n) => { if (n) all.push([`no. ${n + 1} of ${ownSystem()}`, one]); });
  }
  if (sentence.reference) all.push([REFERENCE, translationOf(sentence, REFERENCE)]);
  return new Map(all.filter(([, translation]) => translation));
}

const phraseKey = (translation, phrase) => `${phrase.source.join("-")} ${wordsOf(translation.target, phrase.target)}`;
const sameAs = (one, other) => {
  const keys = new Set(other.phrases.map(phrase => phraseKey(other, phrase)));
  return new Set(one.phrases.flatMap((phrase, p) => keys.has(phraseKey(one, phrase)) ? [p] : []));
};

views.compare = {
  title: "Compare",
  draw(main) {
    const chosen = sentence();
    if (!chosen) return main.append(nothing());
    const all = readings(chosen), names = [...all.keys()];
    if (names.length < 2) return main.append(make("p", {}, "There is only one translation of this sentence."));
    const a = all.has(state.a) ? state.a : all.has(ownSystem()) ? ownSystem() : names[0];
    const b = all.has(state.b) && state.b !== a ? state.b : names.find(name => name !== a);
    const [one, other] = [all.get(a), all.get(b)];
    const turn = () => go({ a: b, b: a });
    main.append(make("div", { class: "row" },
      select("One", names, a, name => go({ a: name, b: name === b ? a : b })), select("other", names.filter(name => name !== a), b, name => go({ a, b: name })),
      make("button", { type: "button", click: turn }, "Exchange"),
      toggle("Links", state.draw === "links", () => go({ draw: "links" })), toggle("Grid", state.draw === "grid", () => go({ draw: "grid" })), legend()));
    const side = (name, translation, against) => make("section", {},
      make("h2", {}, name), make("p", {}, differing(translation.target, against.target)),
      translationPicture(chosen, translation, { draw: state.draw, marked: sameAs(translation, against) }), factsOf(chosen, translation));
    main.append(make("div", { class: "sides" }, side(a, one, other), side(b, other, one)));
    if (one.weighted && other.weighted) {
      main.append(make("h2", {}, "By feature"), make("p", { class: "quiet" }, "Weighted, with the weights of each. Dashed boxes: phrases that both have."),
        featureTable(one.weighted, other.weighted, [a, b]));
    }
    const losses = data.sentences.map(each => [each.translations[a]?.order_loss, each.translations[b]?.order_loss]).filter(pair => pair.every(value => value !== undefined));
    if (losses.length > 1) {
      const better = losses.filter(([x, y]) => x < y).length, worse = losses.filter(([x, y]) => x > y).length;
      main.append(make("p", {}, `Of ${losses.length} sentences, ${a} has the order that is nearer to the reference in ${better}, ${b} in ${worse}.`));
    }
  },
};
