// The finished text of a translation: to copy, to compare with its source word by word, and to change.

const taken = new Map();  // the alternative that was taken of a sentence, by its number
let opened = null;  // the number of the sentence whose alternatives are shown

/** The sentences of the text that a sentence belongs to. */
const together = one => data.sentences.filter(other => other.text === one.text && other.translations[ownSystem()]);

/** Different translations of a sentence, the best one first. */
function alternativesOf(one) {
  const best = one.translations[ownSystem()];
  const texts = new Set();
  return [best, ...best.nbest ?? []].filter(other => other.text && !texts.has(other.text) && texts.add(other.text));
}

const takenOf = one => alternativesOf(one)[taken.get(one.id) ?? 0] ?? one.translations[ownSystem()];

/** The text with the chosen alternatives, in pieces: [text, sentence] or [text between sentences, null]. */
function finishedPieces(sentences) {
  const whole = sentences[0].whole ?? "";
  const pieces = [];
  let at = 0;
  for (const one of sentences) {
    const text = one.translations[ownSystem()].text ?? "";
    const begin = text ? whole.indexOf(text, at) : -1;
    if (begin < 0) continue;  // tags that sentences share are written once
    pieces.push([whole.slice(at, begin), null], [takenOf(one).text, one]);
    at = begin + text.length;
  }
  return [...pieces, [whole.slice(at), null]].filter(piece => piece[0]);
}

const finishedText = sentences => finishedPieces(sentences).map(piece => piece[0]).join("");

/** Positions of tokens in a text: [begin, end], or null for those that are written differently. */
function placesOf(text, tokens) {
  const entities = { "&apos;": "'", "&quot;": '"', "&amp;": "&", "&lt;": "<", "&gt;": ">", "&#124;": "|", "&#91;": "[", "&#93;": "]" };
  const low = text.toLowerCase();
  let at = 0;
  return tokens.map(token => {
    const written = token.replace(/&(?:apos|quot|amp|lt|gt|#124|#91|#93);/g, entity => entities[entity]).toLowerCase();
    const begin = low.length === text.length ? low.indexOf(written, at) : text.indexOf(token, at);
    // A token far away is a different one with the same form.
    if (!written || begin < 0 || text.slice(at, begin).trim().length > 12) return null;
    at = begin + written.length;
    return [begin, at];
  });
}

/** A text whose tokens are elements that know their sentence, side and number. */
function tokenElements(text, tokens, id, side) {
  const parts = [];
  let at = 0;
  placesOf(text, tokens).forEach((place, n) => {
    if (!place) return;
    parts.push(text.slice(at, place[0]), make("span", { class: "token", "data-s": id, "data-side": side, "data-n": n }, text.slice(...place)));
    at = place[1];
  });
  return [...parts, text.slice(at)];
}

/** Pairs of linked words; of an alternative, whose links are not known, all words of a phrase. */
function pairsOf(translation) {
  if (translation.links) return translation.links.map(link => [link.source, link.target]);
  if (isDerivation(translation)) return [];
  return translation.phrases.flatMap(phrase => wordNumbers(phrase.source).flatMap(i => wordNumbers(phrase.target).map(j => [i, j])));
}

/** Highlight a word of either side and its linked words on the other side. */
function lightTokens(section, word) {
  const on = new Set();
  if (word) {
    const { s, side, n } = word.dataset;
    on.add(`${s} ${side} ${n}`);
    for (const [i, j] of pairsOf(takenOf(sentenceAt(s)))) {
      if (side === "source" && i === Number(n)) on.add(`${s} target ${j}`);
      if (side === "target" && j === Number(n)) on.add(`${s} source ${i}`);
    }
  }
  for (const token of section.querySelectorAll(".token")) {
    token.classList.toggle("on", on.has(`${token.dataset.s} ${token.dataset.side} ${token.dataset.n}`));
  }
}

/** The source with its words, the finished text, and the alternatives of the sentence that was clicked. */
function finishedSection(chosen) {
  const sentences = together(chosen);
  const source = [];
  let rest = chosen.text;
  for (const [k, one] of sentences.entries()) {
    const places = placesOf(rest, one.source).filter(Boolean);
    const end = k + 1 === sentences.length ? rest.length : places.at(-1)?.[1] ?? 0;
    source.push(...tokenElements(rest.slice(0, end), one.source, one.id, "source"));
    rest = rest.slice(end);
  }
  const target = finishedPieces(sentences).flatMap(([text, one]) => one === null ? [text]
    : [make("span", { class: "sentence", role: "button", tabindex: 0, "data-sentence": one.id, title: "Show other translations",
      "aria-expanded": String(opened === one.id) }, tokenElements(text, takenOf(one).target, one.id, "target"))]);
  const copy = make("button", { type: "button", id: "copy", click: event => copyText(finishedText(together(chosen)), event.target) }, "Copy");
  const section = make("section", { class: "finished" },
    make("p", { class: "text", lang: languageOf("source") }, source),
    make("p", { class: "text", id: "finished", lang: languageOf("target") }, target),
    make("div", { class: "row" }, copy));
  const open = sentences.find(one => one.id === opened);
  if (open) section.append(alternativesList(open));
  section.addEventListener("pointerover", event => lightTokens(section, event.target.closest(".token")));
  section.addEventListener("pointerleave", () => lightTokens(section, null));
  const toggleOpen = event => {
    const id = Number(event.target.closest("[data-sentence]")?.dataset.sentence ?? 0);
    if (!id) return;
    event.preventDefault();
    opened = opened === id ? null : id;
    if (opened && opened !== sentence()?.id) go({ s: opened });
    else draw();
  };
  section.addEventListener("click", toggleOpen);
  section.addEventListener("keydown", event => { if (event.key === "Enter" || event.key === " ") toggleOpen(event); });
  return section;
}

function alternativesList(one) {
  const all = alternativesOf(one), at = taken.get(one.id) ?? 0;
  if (all.length < 2) return make("p", { class: "quiet", id: "alternatives" }, "There is no other translation of this sentence among the best.");
  return make("ol", { id: "alternatives", class: "alternatives" }, all.map((other, n) => make("li", {},
    make("button", { type: "button", lang: languageOf("target"), "aria-pressed": String(n === at), click: () => { taken.set(one.id, n); draw(); } }, other.text))));
}
