// All sentences: sorted by what may be wrong with them, and filtered by jumps, tags and errors.

const tagOf = (sentence, word) => word < 0 ? "start" : sentence.tags?.[word] ?? "";

/** Whether a sentence has a jump between two tags, at least of a given length; jumps to the next phrase count if no length is given. */
function hasJump(sentence, translation, from, to, least) {
  return movesOf(translation).some(move => Math.abs(move.distance) >= least
    && (!from || tagOf(sentence, move.from) === from) && (!to || tagOf(sentence, move.to) === to));
}

const COLUMNS = [
  ["id", "no."], ["text", "sentence"], ["length", "words"], ["loss", "order loss"], ["disagreement", "dis\u00ADagree\u00ADment"],
  ["score", "score"], ["jump", "longest jump"], ["verdict", "verdict"],
];

const metric = () => state.metric in data.metrics ? state.metric : Object.keys(data.metrics)[0] ?? "";

function listed() {
  const name = ownSystem(), needle = state.find.toLowerCase();
  const least = Number(state.jump) || 0;
  const rows = data.sentences.map(one => {
    const translation = translationOf(one, name) ?? { phrases: [], target: [] };
    return { id: one.id, one, translation, text: one.source.join(" "), length: one.source.length, loss: translation.order_loss ?? null,
      disagreement: one.disagreement ?? null, score: translation.scores?.[metric()] ?? translation.score ?? null, jump: longestJump(translation),
      verdict: translation.verdict ?? "" };
  }).filter(row => (!needle || `${row.text} ${row.translation.target.join(" ")} ${row.one.reference?.target.join(" ") ?? ""}`.toLowerCase().includes(needle))
    && (!(state.from || state.to || least) || hasJump(row.one, row.translation, state.from, state.to, least))
    && (!state.verdict || (row.verdict || "unreachable") === state.verdict));
  const by = COLUMNS.some(([column]) => column === state.sort) ? state.sort : "id", down = state.down ? -1 : 1;
  return rows.sort((x, y) => {
    const [a, b] = [x[by], y[by]];
    if (a === b) return x.id - y.id;
    if (a === null || b === null) return a === null ? 1 : -1;
    return (a < b ? -1 : 1) * down;
  });
}

views.list = {
  title: "List",
  draw(main) {
    if (!data.sentences.length) return main.append(nothing());
    const tags = [...new Set(data.sentences.flatMap(one => one.tags ?? []))].sort();
    const any = [["", "any"]];
    const metrics = Object.keys(data.metrics);
    const filters = make("div", { class: "row" },
      tags.length > 0 && select("From tag", [...any, "start", ...tags], state.from, from => go({ from })),
      tags.length > 0 && select("to tag", [...any, ...tags], state.to, to => go({ to })),
      make("label", {}, "jump of at least", make("input", { type: "number", class: "number", min: 0, max: 99, value: state.jump, style: "width: 4rem",
        change: event => go({ jump: event.target.value || "0" }) })),
      data.sentences.some(one => one.reference) && select("Verdict", [...any, ...Object.entries(VERDICTS).map(([name, [text]]) => [name, text || "not reachable"])],
        state.verdict, verdict => go({ verdict })),
      metrics.length > 1 && select("Score", metrics, metric(), name => go({ metric: name })),
      make("button", { type: "button", click: () => go({ from: "", to: "", jump: "0", verdict: "", find: "", sort: "id", down: "" }) }, "Reset"));
    const rows = listed();
    const order = state.down ? "descending" : "ascending";
    // The most interesting first: large losses, low scores.
    const sortBy = column => go(column === state.sort ? { down: state.down ? "" : "1" } : { sort: column, down: ["id", "text", "score"].includes(column) ? "" : "1" });
    const head = make("tr", {}, COLUMNS.map(([column, title]) => make("th", { class: column, "aria-sort": column === state.sort ? order : null },
      make("button", { type: "button", click: () => sortBy(column) }, column === "score" ? metric() || "score" : title, column === state.sort ? (state.down ? " ↓" : " ↑") : ""))));
    const line = row => make("tr", { class: row.id === sentence().id ? "current" : "" },
      make("td", { class: "id" }, String(row.id)),
      make("td", { class: "text", lang: languageOf("source") }, make("a", { href: address({ view: "sentence", s: row.id, p: "", step: "0" }) }, row.text)),
      make("td", {}, String(row.length)), make("td", {}, row.loss === null ? "–" : percent(row.loss)),
      make("td", {}, row.disagreement === null ? "–" : percent(row.disagreement)), make("td", {}, shown(row.score, 1)), make("td", {}, String(row.jump)),
      make("td", { class: "verdict", title: VERDICTS[row.verdict || "unreachable"][1] }, VERDICTS[row.verdict]?.[0] ?? ""));
    const shownRows = rows.slice(0, 500);
    main.append(filters,
      make("p", { class: "quiet" }, `${rows.length} of ${data.sentences.length} sentences, as ${ownSystem()} translates them`
        + (shownRows.length < rows.length ? `; the first ${shownRows.length} are shown` : "")),
      make("table", { class: "list" }, make("thead", {}, head), make("tbody", {}, shownRows.map(line))));
    if (!server) main.append(make("p", { class: "quiet" },
      "Order loss: pairs of source words in another order than in the reference. Disagreement: the same between the systems, on average. "
      + "Verdicts: a model error scores the system's translation above the reference, a search error missed a reference that scores higher."));
  },
};
