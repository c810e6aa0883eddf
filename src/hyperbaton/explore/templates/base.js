// Elements, numbers, and access to the data.

const views = {};  // by name, in the order of the tabs: {title, draw(main), keys?}
const SVG = "http://www.w3.org/2000/svg";

/** An element with attributes (functions become listeners) and children; strings become text. */
function make(tag, attributes = {}, ...children) {
  const element = tag.startsWith("svg:") ? document.createElementNS(SVG, tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

const byId = id => document.getElementById(id);
const sum = values => values.reduce((a, b) => a + b, 0);
const clamp = (value, least, most) => Math.min(Math.max(value, least), most);

/** A number with a given number of digits and a true minus sign. */
function shown(value, digits = 2, plus = false) {
  if (value === null || value === undefined || Number.isNaN(value)) return "–";
  const text = Math.abs(value).toFixed(digits);
  return (Number(text) === 0 ? "" : value < 0 ? "−" : plus ? "+" : "") + text;
}
const signed = (value, digits = 2) => shown(value, digits, true);
const percent = value => `${(100 * value).toFixed(value < 0.0995 ? 1 : 0)} %`;

const kindOf = distance => distance < 0 ? "forward" : distance > 0 ? "back" : "monotone";
const KINDS = { forward: "jump ahead", back: "jump back", monotone: "next word" };

function select(label, options, value, change) {
  const list = make("select", { change: event => change(event.target.value) });
  for (const option of options) {
    const [name, text] = Array.isArray(option) ? option : [option, option];
    list.append(make("option", { value: name, selected: String(name) === String(value) }, text));
  }
  return make("label", {}, label, list);
}

function checkbox(label, checked, change) {
  return make("label", {}, make("input", { type: "checkbox", checked, change: event => change(event.target.checked) }), label);
}

function toggle(label, pressed, click) {
  return make("button", { type: "button", "aria-pressed": String(pressed), click }, label);
}

// Data.

const settings = JSON.parse(byId("settings").textContent);
const server = settings.server;
const REFERENCE = "reference";
let data = { title: "hyperbaton", languages: {}, metrics: {}, systems: [], sentences: [], corpora: [] };

async function unpack() {
  const text = byId("data").textContent.trim();
  if (!text) return;
  const bytes = Uint8Array.from(atob(text), character => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  data = await new Response(stream).json();
}

const systemNames = () => data.systems.map(system => system.name);
const systemOf = name => data.systems.find(system => system.name === name);
const wordNumbers = ([begin, end]) => Array.from({ length: end - begin }, (_, k) => begin + k);
const wordsOf = (words, [begin, end]) => words.slice(begin, end).join(" ");

// The code of a side's language, if known: it decides the letter forms of Chinese, Japanese and Korean.
const languageOf = side => (served.find(one => one.name === ownSystem()) ?? data.languages)?.[side] || null;
const inLanguage = (side, ...text) => make("span", { lang: languageOf(side) }, ...text);
const bothSides = (sentence, translation, phrase) => [inLanguage("source", wordsOf(sentence.source, phrase.source)), " → ",
  inLanguage("target", wordsOf(translation.target, phrase.target) || "∅")];

/** A translation of a sentence by a system; the phrases of the reference are its linked words. */
function translationOf(sentence, system) {
  if (system !== REFERENCE) return sentence.translations[system];
  const { target, links, order } = sentence.reference;
  let after = 0;
  const phrases = order.map(word => {
    const linked = links.filter(link => link[0] === word).map(link => link[1]);
    const phrase = { source: [word, word + 1], target: [Math.min(...linked), Math.max(...linked) + 1], distance: after - word, weighted: {} };
    after = word + 1;
    return phrase;
  });
  return { target, phrases, boxes: false, links: links.map(([source, to]) => ({ source, target: to, confidence: 1 })) };
}

/** Whether a translation was made with rules: then its phrases are nested, each before those in its gaps. */
const isDerivation = translation => translation.phrases[0]?.rule !== undefined;

/** The phrase of each source and target word; the innermost one of rules. */
function ownersOf(translation) {
  const source = {}, target = {}, nested = isDerivation(translation);
  translation.phrases.forEach((phrase, p) => {
    for (let i = phrase.source[0]; i < phrase.source[1]; i++) source[i] = p;
    for (let j = phrase.target[0]; j < phrase.target[1]; j++) if (nested || target[j] === undefined) target[j] = p;
  });
  return { source, target };
}

/** Moves from one phrase to the next; of rules, from one linked word to the next in target order. `last` is the last word reached. */
function movesOf(translation) {
  let from = -1;
  const move = (n, at, to, last) => {
    const made = { n, at, from, to, last, distance: from + 1 - to };
    from = last;
    return made;
  };
  if (!isDerivation(translation)) return translation.phrases.map((phrase, p) => move(p, p, phrase.source[0], phrase.source[1] - 1));
  const { source } = ownersOf(translation);
  const links = [...translation.links ?? []].sort((a, b) => a.target - b.target || a.source - b.source);
  return [...new Set(links.map(link => link.source))].map((word, n) => move(n, source[word], word, word));
}

/** Jumps of a translation: moves to a phrase that is not adjacent. */
const jumpsOf = translation => movesOf(translation).filter(move => move.distance !== 0);
const longestJump = translation => Math.max(0, ...movesOf(translation).map(move => Math.abs(move.distance)));

/** The description of a phrase: how far it moves; or the sides of a rule. */
const phraseFacts = phrase => phrase.rule === undefined ? [["d", signed(phrase.distance, 0)], ["", KINDS[kindOf(phrase.distance)]]]
  : phrase.kind === "rule" ? [["rule", phrase.rule.join(" → ")]] : [["", phrase.kind]];

const VERDICTS = {
  reference: ["the reference", "The system's translation is the reference."],
  model_error: ["model error", "The system scores its own translation at least as high as the reference."],
  search_error: ["search error", "The reference scores higher, but the search did not find it."],
  beyond_limit: ["beyond limit", "The reference scores higher, but needs a jump that the distortion limit forbids."],
  unreachable: ["", "The phrase table cannot produce the reference."],
};
