// The sentences of an audit: chosen by their findings, sorted, and drawn a few at a time.
const STEP = 20;
const at = (id) => document.getElementById(id);
function make(tag, name, ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.append(...children.filter((child) => child));
  return element;
}
const digits = (value, n) => value.toFixed(n).replace("-", "−");

async function start() {
  const bytes = Uint8Array.from(atob(at("data").textContent), (character) => character.charCodeAt(0));
  const { long, unusual, sentences } = await new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")),
  ).json();
  sentences.forEach((one, rank) => (one.rank = rank));
  const kinds = {
    all: () => true,
    missing: (found) => found.missing.length > 0,
    added: (found) => found.added.length > 0,
    long: (found) => found.moved.some((phrase) => Math.abs(phrase.passed) >= long),
    swap: (found) => found.moved.some((phrase) => Math.abs(phrase.passed) < long),
    unusual: (found) => (found.percentile ?? 100) < unusual,
  };
  const most = (values) => Math.max(0, ...values);
  const sorts = {
    differ: (one) => -one.rank,
    loss: (one, found) => most(found.map((each) => each.order_loss ?? 0)),
    far: (one, found) => most(found.flatMap((each) => each.moved.map((phrase) => Math.abs(phrase.passed)))),
    missing: (one, found) => most(found.map((each) => each.missing.length)),
    logprob: (one, found) => most(found.map((each) => -(each.logprob ?? 0))),
    line: (one) => -one.line,
  };

  const words = (row, classes, titles) =>
    row.map((text, k) => {
      const word = make("li", ["word", ...(classes[k] ?? [])].join(" "), text);
      if (titles[k]) word.title = titles[k];
      return word;
    });
  const side = (name, items) => {
    const list = make("ul", `side ${name}`, ...items);
    list.dir = "auto";
    return list;
  };
  const drawText = (one, name, text) => {
    const found = one.findings[name];
    const classes = [{}, {}], titles = [{}, {}];
    const mark = (row, k, kind, title) => {
      (classes[row][k] ??= []).push(kind);
      titles[row][k] = title;
    };
    for (const { words: moved, passed } of found?.moved ?? []) {
      const kind = passed > 0 ? "later" : "earlier", title = `${Math.abs(passed)} words ${kind} than in the reference`;
      for (const i of moved) mark(0, i, kind, title);
      for (const [i, j] of text.links) if (moved.includes(i)) mark(1, j, kind, title);
    }
    for (const [i] of found?.missing ?? []) mark(0, i, "gone", "missing");
    for (const [j] of found?.added ?? []) mark(1, j, "gone", "added");
    const linked = make("div", "linked", side("source", words(one.source, classes[0], titles[0])), side("target", words(text.words, classes[1], titles[1])));
    linked.dataset.links = JSON.stringify(text.links);
    const remarks = [];
    const remark = (title, ...parts) => remarks.push(make("li", "", make("b", "", `${title}: `), ...parts));
    const quoted = (...texts) => make("bdi", "", texts.join(" ")); // of any direction
    for (const { words: moved, passed } of found?.moved ?? []) {
      const title = Math.abs(passed) >= long ? "Long move" : "Neighbours swapped";
      remark(title, quoted(...moved.map((i) => one.source[i])), `, ${Math.abs(passed)} words ${passed > 0 ? "later" : "earlier"}`);
    }
    const each = (row, places) => places.flatMap(([k], n) => [n ? ", " : "", quoted(row[k])]);
    if (found?.missing.length) remark("Missing", ...each(one.source, found.missing));
    if (found?.added.length) remark("Added", ...each(text.words, found.added));
    if (found?.worst) {
      const names = ["the start", ...one.source, "the end"], { current, next, probability, expected } = found.worst;
      const instead = expected.flatMap(([j, p], n) => [n ? " or " : "; expected ", quoted(names[j + 1]), ` (${digits(p, 2)})`]);
      remark("Least probable jump", quoted(names[current + 1]), " → ", quoted(names[next + 1]), `, p = ${digits(probability, 3)}`, ...instead);
    }
    const facts = [];
    if (found?.order_loss !== undefined) facts.push(`${digits(100 * found.order_loss, 0)}% of word pairs in another order`);
    if (found?.logprob !== undefined) facts.push(`log p ${digits(found.logprob, 2)}`);
    if (found?.percentile !== undefined) facts.push(`percentile ${digits(found.percentile, 0)}`);
    const block = make("div", "", make("h4", "", name, make("span", "", facts.join(", "))), linked, remarks.length ? make("ul", "found", ...remarks) : null);
    return { block, linked };
  };

  const list = at("list");
  let chosen = [], shown = 0;
  const more = () => {
    for (const one of chosen.slice(shown, shown + STEP)) {
      const texts = Object.entries(one.texts).map(([name, text]) => drawText(one, name, text));
      const title = make("h3", "", `Line ${one.line}`);
      list.append(make("article", "", title, make("div", "texts", ...texts.map(({ block }) => block))));
      texts.forEach(({ linked }) => linkUp(linked)); // needs the places of the words
      for (const { linked } of texts) {
        const own = [...linked.querySelectorAll(".source .word")];
        JSON.parse(linked.dataset.links).forEach(([i], k) => {
          const kind = ["later", "earlier"].find((name) => own[i].classList.contains(name));
          if (kind) linked.querySelectorAll("path")[k].classList.add(kind);
        });
      }
    }
    shown = Math.min(shown + STEP, chosen.length);
    at("more").hidden = shown === chosen.length;
    at("count").textContent = `${chosen.length} of ${sentences.length} sentences`;
  };
  const choose = () => {
    const system = at("system").value, kind = kinds[at("kind").value], sort = sorts[at("sort").value];
    const found = (one) => (system ? [one.findings[system]] : Object.values(one.findings));
    const keyed = sentences.filter((one) => found(one).some(kind)).map((one) => [sort(one, found(one)), one]);
    chosen = keyed.sort((x, y) => y[0] - x[0] || x[1].line - y[1].line).map(([, one]) => one);
    shown = 0;
    list.replaceChildren();
    more();
  };
  for (const id of ["kind", "system", "sort"]) at(id).addEventListener("change", choose);
  at("more").addEventListener("click", more);
  choose();
}
start();
