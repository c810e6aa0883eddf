// The state of the page, kept in the address: #view=list&s=4&system=pair; everything is drawn from it.

const DEFAULTS = {
  view: "sentence", s: "", system: "", draw: "links", p: "", step: "0", find: "", a: "", b: "", sort: "id", down: "", metric: "",
  from: "", to: "", jump: "0", verdict: "", ca: "", cb: "", log: "", refs: "", text: "", edits: "", far: "",
};
let state = { ...DEFAULTS };

function readAddress() {
  state = { ...DEFAULTS };
  for (const [name, value] of new URLSearchParams(location.hash.slice(1))) if (name in DEFAULTS) state[name] = value;
  if (!(state.view in views)) state.view = DEFAULTS.view;
}

function address(changes) {
  const values = { ...state, ...changes };
  const changed = Object.entries(values).filter(([name, value]) => String(value) !== DEFAULTS[name]);
  return "#" + new URLSearchParams(changed.map(([name, value]) => [name, String(value)])).toString();
}

/** Change the state; steps worth going back to are kept in the history. */
function go(changes) {
  const kept = "view" in changes || "s" in changes || "text" in changes;
  if ("s" in changes || "system" in changes) changes = { p: "", step: "0", ...changes };
  const next = address(changes) === "#" ? location.pathname + location.search : address(changes);
  history[kept ? "pushState" : "replaceState"](null, "", next);
  readAddress();
  draw();
}

const sentenceAt = number => data.sentences.find(sentence => sentence.id === Number(number));
/** The chosen sentence; at first the one on which the systems disagree most. */
const sentence = () => sentenceAt(state.s)
  ?? data.sentences.reduce((most, one) => (one.disagreement ?? 0) > (most.disagreement ?? 0) ? one : most, data.sentences[0]);
const bestSystem = () => {
  const metric = Object.keys(data.metrics)[0];
  const up = data.metrics[metric] ? 1 : -1;
  const ranked = [...data.systems].sort((x, y) => up * ((y.scores?.[metric] ?? 0) - (x.scores?.[metric] ?? 0)));
  return ranked[0]?.name ?? "";
};
const isSystem = name => systemNames().includes(name);
const system = () => isSystem(state.system) || (state.system === REFERENCE && sentence()?.reference) ? state.system : bestSystem();
const ownSystem = () => isSystem(state.system) ? state.system : bestSystem();

/** Go to the sentence a given number of places on in the order of the list. */
function move(by) {
  const all = listed();
  const at = all.findIndex(row => row.id === sentence()?.id);
  const next = all[clamp(at + by, 0, all.length - 1)];
  if (next && next.id !== sentence()?.id) go({ s: next.id });
}

function say(text, isError = false) {
  byId("message").textContent = text;
  byId("message").className = isError ? "error" : "";
}
