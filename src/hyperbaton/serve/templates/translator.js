// The translator: text on one side, its translation on the other while it is typed; alternatives of a sentence on click.

const PAUSE = 350;  // milliseconds without a key before the text is translated
const N_BEST = 6;
let pending = 0, asking = null;  // the timer before a request, and the controller of the request
let sentences = [], whole = "", expanded = -1;  // of the translation that is shown
const chosenTexts = new Map();  // the alternative chosen for a sentence, by its number

const textArea = byId("text"), output = byId("output");
const sourceCode = () => byId("source").value, targetCode = () => byId("target").value;

function say(text, isError = false) {
  byId("message").textContent = text;
  byId("message").className = isError ? "error" : "quiet";
}

/** Fill a list with languages, [code, name] each; keep the chosen one if it is there. */
function fill(id, languages, wanted) {
  const codes = languages.map(([code]) => code), value = codes.includes(wanted) ? wanted : codes[0];
  byId(id).replaceChildren(...languages.map(([code, name]) => make("option", { value: code, selected: code === value }, name)));
}

const distinct = pairs => [...new Map(pairs)].sort((one, other) => one[1].localeCompare(other[1]));

function showLanguages(source, target) {
  const sources = distinct(served.map(one => [one.source, one.source_name]));
  fill("source", sources.length > 1 ? [...sources, ["auto", "Detect language"]] : sources, source);
  const fitting = served.filter(one => [one.source, "auto"].includes(sourceCode()));
  fill("target", distinct(fitting.map(one => [one.target, one.target_name])), target);
  textArea.lang = sourceCode() === "auto" ? "" : sourceCode();
  output.lang = targetCode();
  byId("swap").disabled = !served.some(one => one.source === targetCode() && one.target === sourceCode());
}

/** The translation in pieces: [text, number of its sentence], or [text between sentences, -1]. */
function pieces() {
  const parts = [];
  let at = 0;
  sentences.forEach(({ text }, n) => {
    const begin = text ? whole.indexOf(text, at) : -1;
    if (begin < 0) return;
    parts.push([whole.slice(at, begin), -1], [chosenTexts.get(n) ?? text, n]);
    at = begin + text.length;
  });
  return [...parts, [whole.slice(at), -1]].filter(([text]) => text);
}

const finished = () => pieces().map(([text]) => text).join("");

function show() {
  output.replaceChildren(...pieces().map(([text, n]) => n < 0 ? text
    : make("span", { class: "sentence", role: "button", tabindex: 0, "data-n": n, "aria-expanded": String(n === expanded), title: "Show other translations" }, text)));
  byId("copy").disabled = !whole;
  const texts = expanded < 0 ? [] : [...new Set([sentences[expanded].text, ...(sentences[expanded].nbest ?? []).map(other => other.text)])];
  byId("alternatives").replaceChildren(...(expanded < 0 ? []
    : texts.length < 2 ? [make("p", { class: "quiet" }, "There is no other translation of this sentence among the best.")]
      : [make("h2", {}, "Alternatives"), make("ol", { class: "alternatives" }, texts.map(text => make("li", {},
        make("button", { type: "button", lang: targetCode(), dir: "auto", "aria-pressed": String(text === (chosenTexts.get(expanded) ?? sentences[expanded].text)),
          click: () => { chosenTexts.set(expanded, text); show(); } }, text))))]));
}

/** Translate what is typed; an answer that is no longer wanted is dropped. */
async function translateNow() {
  clearTimeout(pending);
  asking?.abort();
  const text = textArea.value, mine = asking = new AbortController();
  byId("count").textContent = `${text.length} of ${server.limit} characters`;
  keepInAddress(text);
  let answer = null;
  if (text.trim() && served.length) {
    output.classList.add("late");
    try {
      answer = await call("v1/translate", { text, source: sourceCode(), target: targetCode(), nbest: N_BEST }, mine.signal);
    } catch (error) {
      if (mine === asking) output.classList.remove("late");
      if (error.name !== "AbortError") say(error.message, true);
      return;
    }
    if (mine !== asking) return;
  }
  output.classList.remove("late");
  whole = answer?.translations[0].text ?? "";
  sentences = answer?.translations[0].sentences ?? [];
  expanded = -1;
  chosenTexts.clear();
  const name = served.find(one => one.source === answer?.source)?.source_name;
  say(sourceCode() === "auto" && name ? `Detected: ${name}` : "");
  show();
}

function translateSoon() {
  clearTimeout(pending);
  pending = setTimeout(translateNow, PAUSE);
}

/** Keep short texts in the address, for links and for the page that explains. */
function keepInAddress(text) {
  const values = new URLSearchParams({ source: sourceCode(), target: targetCode(), ...text.trim() && text.length <= 2000 ? { text } : {} });
  history.replaceState(null, "", `#${values}`);
  const pair = served.find(one => one.target === targetCode() && [one.source, "auto"].includes(sourceCode()));
  byId("explain").href = text.trim() ? `explain#${new URLSearchParams({ text: text.trim(), system: pair?.name ?? "" })}` : "explain";
}

function swapLanguages() {
  const translated = finished(), [source, target] = [sourceCode(), targetCode()];
  showLanguages(target, source);
  if (translated) textArea.value = translated;
  translateNow();
}

async function translateFile(input) {
  const [file] = input.files;
  if (!file) return;
  const form = new FormData();
  for (const [name, value] of Object.entries({ file, source: sourceCode(), target: targetCode() })) form.append(name, value);
  say(`Translating ${file.name}…`);
  try {
    const { translatedFileUrl } = await call("translate_file", form);
    make("a", { href: `download_file/${translatedFileUrl.split("/").at(-1)}`, download: "" }).click();
    say(`${file.name} is translated.`);
  } catch (error) {
    say(error.message, true);
  }
  input.value = "";
}

function expand(target) {
  const n = Number(target.closest?.("[data-n]")?.dataset.n ?? -1);
  if (n < 0) return false;
  expanded = expanded === n ? -1 : n;
  show();
  output.querySelector(`[data-n="${n}"]`)?.focus();
  return true;
}

async function startTranslator() {
  startTheme();
  const given = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  try {
    await connect();
    if (!served.length) say("The service has no system to translate with.", true);
  } catch (error) {
    say(error.message, true);
  }
  showLanguages(given.source, given.target);
  if (given.text) textArea.value = given.text;
  translateNow();
}

textArea.addEventListener("input", translateSoon);
textArea.addEventListener("keydown", event => { if (event.key === "Enter" && event.ctrlKey) translateNow(); });
for (const id of ["source", "target"]) byId(id).addEventListener("change", () => { showLanguages(sourceCode(), targetCode()); translateNow(); });
byId("swap").addEventListener("click", swapLanguages);
byId("copy").addEventListener("click", event => copyText(finished(), event.target));
byId("file").addEventListener("change", event => translateFile(event.target));
byId("key")?.addEventListener("change", event => { keepKey(event.target.value); startTranslator(); });
byId("languages").addEventListener("submit", event => event.preventDefault());
output.addEventListener("click", event => expand(event.target));
output.addEventListener("keydown", event => { if ((event.key === "Enter" || event.key === " ") && expand(event.target)) event.preventDefault(); });
document.addEventListener("keydown", event => { if (event.key === "Escape" && expanded >= 0) { expanded = -1; show(); } });
startTranslator();
