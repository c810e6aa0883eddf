// The service that translates the sentences typed on the page.

let apiKey = "";
try { apiKey = sessionStorage.getItem("hyperbaton-key") ?? ""; } catch { /* storage is switched off */ }

function keepKey(value) {
  apiKey = value;
  try { sessionStorage.setItem("hyperbaton-key", value); } catch { /* storage is switched off */ }
}

/** The answer of the service to an object, which is sent as JSON, or to a form. */
async function call(path, body, signal) {
  const isForm = body instanceof FormData;
  const headers = { ...isForm ? {} : { "Content-Type": "application/json" }, ...apiKey ? { "X-API-Key": apiKey } : {} };
  const response = await fetch(path, body ? { method: "POST", headers, signal, body: isForm ? body : JSON.stringify(body) } : { headers, signal });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.error ?? `the server answered ${response.status}`);
  return answer;
}

/** Request a translation with all details. */
function ask(request) {
  const chosen = served.find(one => one.name === ownSystem()) ?? served[0];
  return call("v1/translate", { source: chosen?.source, target: chosen?.target, details: true, nbest: 10, expectations: true, ...request });
}

let served = [];  // {name, source, target, reordering}

async function connect() {
  const answer = await call("v1/systems");
  served = answer.systems.map(one => ({ ...one, name: `${one.source}-${one.target}` }));  // one system for each pair of languages
  data.systems = served.map(one => ({ name: one.name, models: one.reordering, limit: one.options?.["distortion-limit"] ?? null, scores: {} }));
}

/** Translate a text; its sentences are added to the list, and the first of them is shown. */
async function translate(text) {
  const name = ownSystem();
  const present = data.sentences.find(one => one.text === text && one.translations[name]);
  if (present) return present;
  say("Translating…");
  const answer = await ask({ text });
  const first = data.sentences.length + 1;
  answer.translations[0].sentences.forEach((one, part) => {
    data.sentences.push({ id: first + part, text, part, whole: answer.translations[0].text, source: one.source, tags: one.tags, translations: { [name]: one } });
  });
  say("");
  return data.sentences[first - 1];
}

/** Translate the text given in the address, and show it. */
async function follow(changes = {}) {
  try {
    const found = await translate(changes.text ?? state.text);
    go({ ...changes, s: found?.id ?? 1 });
  } catch (error) {
    say(error.message, true);
  }
}
