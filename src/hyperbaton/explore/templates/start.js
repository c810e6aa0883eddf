// The frame of the page: tabs, the chooser of sentence and system, keys, and saving.

let lastWidth = 0;  // pictures depend on the width of the page

function drawChooser() {
  const form = byId("chooser");
  const held = document.activeElement?.id;
  const parts = [];
  if (server) {
    const text = make("textarea", { id: "text", "aria-label": "Text to translate", placeholder: "Text to translate", maxlength: server.limit });
    text.value = state.text;
    text.addEventListener("keydown", event => { if (event.key === "Enter" && !event.shiftKey) { event.preventDefault(); translateTyped(); } });
    const key = make("input", { id: "key", type: "password", autocomplete: "off", value: apiKey, change: event => setKey(event.target.value) });
    parts.push(make("div", { class: "text" }, text), make("button", { type: "button", id: "translate", click: translateTyped }, "Translate"),
      server.key && make("label", {}, "Key", key));
  }
  const all = listed(), at = all.findIndex(row => row.id === sentence()?.id);
  if (data.sentences.length) {
    parts.push(make("button", { type: "button", id: "previous", title: "Previous sentence (←)", disabled: at <= 0, click: () => move(-1) }, "←"),
      make("label", {}, "Sentence", make("input", { type: "number", class: "number", id: "number", min: 1, max: data.sentences.length, value: sentence().id,
        change: event => sentenceAt(event.target.value) && go({ s: event.target.value }) }), `of ${data.sentences.length}`),
      make("button", { type: "button", id: "next", title: "Next sentence (→)", disabled: at >= all.length - 1, click: () => move(1) }, "→"));
  }
  if (data.systems.length) {
    const names = systemNames().concat(state.view === "sentence" && sentence()?.reference ? [REFERENCE] : []);
    parts.push(select("System", names, state.view === "sentence" ? system() : ownSystem(), name => server ? follow({ system: name }) : go({ system: name })));
  }
  if (data.sentences.length > 1) {
    parts.push(make("input", { type: "search", id: "search", placeholder: "Search ( / )", "aria-label": "Search sentences", value: state.find,
      input: event => find(event.target.value), keydown: event => { if (event.key === "Enter") { event.preventDefault(); go({ view: "list" }); } } }));
  }
  form.replaceChildren(...parts.filter(Boolean));
  if (held && byId(held) && held !== "main") {
    byId(held).focus();
    if (held === "search") byId(held).setSelectionRange(state.find.length, state.find.length);
  }
}

const translateTyped = () => byId("text").value.trim() && follow({ text: byId("text").value.trim(), edits: "", p: "" });

function setKey(value) {
  keepKey(value);
  connect().then(draw, error => say(error.message, true));
}

let waiting = 0;
function find(text) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    go({ find: text });
    const rows = listed();
    if (rows.length && !rows.some(row => row.id === sentence()?.id)) go({ s: rows[0].id });
    say(text && !rows.length ? `No sentence has “${text}”.` : "");
  }, 150);
}

function draw() {
  byId("views").replaceChildren(...Object.entries(views).map(([name, view], n) =>
    make("a", { href: address({ view: name }), "aria-current": name === state.view ? "page" : null, title: `Key ${n + 1}` }, view.title)));
  drawChooser();
  const main = byId("main");
  main.replaceChildren();
  views[state.view].draw(main);
}

// Saving.

function save(name, type, text) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

const fileName = () => ["hyperbaton", state.view, sentence() && !["list", "corpus"].includes(state.view) && sentence().id].filter(Boolean).join("-");

/** A picture with its own styles, in the colours of the screen. */
function standalone(svg) {
  const copy = svg.cloneNode(true);
  copy.classList.remove("lit");
  for (const part of copy.querySelectorAll(".on")) part.classList.remove("on");
  const names = ["ink", "quiet", "paper", "shade", "faint", "line", "forward", "monotone", "back", "accent", "good"];
  const colours = getComputedStyle(document.documentElement);
  const rules = [...document.styleSheets].flatMap(sheet => [...sheet.cssRules]).map(rule => rule.cssText).filter(text => text.startsWith("svg"));
  const resolved = text => text.replace(/var\(--(\w+)\)/g, (whole, name) => names.includes(name) ? colours.getPropertyValue(`--${name}`).trim() : whole);
  for (const part of copy.querySelectorAll("[style], [fill]")) {
    for (const name of ["style", "fill"]) if (part.hasAttribute(name)) part.setAttribute(name, resolved(part.getAttribute(name)));
  }
  copy.prepend(put("style", {}, resolved(rules.join("\n"))));
  const paper = put("rect", { width: "100%", height: "100%", style: resolved("fill: var(--paper)") });
  copy.querySelector("style").after(paper);
  return new XMLSerializer().serializeToString(copy);
}

/** The content of the view, as plain values. */
function shownData() {
  if (state.view === "corpus") return corpora();
  if (state.view === "list") return listed().map(row => row.one);
  return sentence() ?? {};
}

function saveSvg() {
  const svg = byId("main").querySelector(".picture svg");
  if (svg) save(`${fileName()}.svg`, "image/svg+xml", standalone(svg));
  else say("This view has no picture to save.");
}

document.addEventListener("keydown", event => {
  const typing = event.target.closest("input, textarea, select");
  if (event.key === "Escape" && typing) return typing.blur();
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return undefined;
  const number = Number(event.key);
  if (event.key === "ArrowLeft") move(-1);
  else if (event.key === "ArrowRight") move(1);
  else if ((event.key === "ArrowUp" || event.key === "ArrowDown") && views[state.view].step && sentence()) views[state.view].step(event.key === "ArrowUp" ? -1 : 1);
  else if (event.key === "/" && (byId("search") || byId("text"))) (byId("search") || byId("text")).focus();
  else if (number >= 1 && number <= Object.keys(views).length) go({ view: Object.keys(views)[number - 1] });
  else return undefined;
  return event.preventDefault();
});

byId("chooser").addEventListener("submit", event => event.preventDefault());
byId("save-svg").addEventListener("click", saveSvg);
byId("save-json").addEventListener("click", () => save(`${fileName()}.json`, "application/json", JSON.stringify(shownData(), null, 1)));
for (const event of ["hashchange", "popstate"]) {
  addEventListener(event, () => {
    const text = state.text;
    readAddress();
    if (server && state.text && state.text !== text) follow();
    else draw();
  });
}
addEventListener("resize", () => {
  if (document.documentElement.clientWidth === lastWidth) return;
  lastWidth = document.documentElement.clientWidth;
  draw();
});

async function start() {
  startTheme();
  lastWidth = document.documentElement.clientWidth;
  readAddress();
  try {
    await unpack();
    if (server) await connect();
  } catch (error) {
    say(error.message, true);
  }
  draw();
  if (server && state.text) await follow({ ...state });
}
start();
