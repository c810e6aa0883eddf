// Elements, numbers, and what is read off the data.

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

/** A number with so many digits, with a true minus sign. */
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

// The code of a side's language, where it is known: it decides the letter forms of Chinese, Japanese and Korean.
const languageOf = side => (served.find(one => one.name === ownSystem()) ?? data.languages)?.[side] || null;
const inLanguage = (side, ...text) => make("span", { lang: languageOf(side) }, ...text);
const bothSides = (sentence, translation, phrase) => [inLanguage("source", wordsOf(sentence.source, phrase.source)), " → ",
  inLanguage("target", wordsOf(translation.target, phrase.target) || "∅")];

/** A translation of a sentence by a system; the reference is one whose phrases are the words that are linked. */
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

/** Jumps of a translation: from one phrase to the next that is not its neighbour. */
function jumpsOf(translation) {
  return translation.phrases.flatMap((phrase, at) => phrase.distance === 0 ? [] : [{
    at, distance: phrase.distance, to: phrase.source[0], from: at ? translation.phrases[at - 1].source[1] - 1 : -1,
  }]);
}
const longestJump = translation => Math.max(0, ...translation.phrases.map(phrase => Math.abs(phrase.distance)));

const VERDICTS = {
  reference: ["the reference", "The system's translation is the reference."],
  model_error: ["model error", "The system scores its own translation at least as high as the reference."],
  search_error: ["search error", "The reference scores higher, but the search did not find it."],
  beyond_limit: ["beyond limit", "The reference scores higher, but needs a jump that the distortion limit forbids."],
  unreachable: ["", "The phrase table cannot produce the reference."],
};
