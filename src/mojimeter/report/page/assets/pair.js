// One pair: a message, two contexts with their right answers, what every system answered in each condition.

const CONDITIONS = [["1", "in context 1"], ["2", "in context 2"], ["none", "without context"]];
const VERDICTS = { r: ["\u2713", "right", "good"], w: ["\u2717", "wrong", "warn"], "?": ["?", "not read", "warn"], ".": ["", "not judged", "soft"] };

function pairDetail(run, index) {
  const { items } = run;
  const at = (name) => items[name]?.[index];
  const lang = at("lang");
  const columns = [
    { key: "system", label: "system", text: true, get: (r) => r.name, cell: (r) => [breakable(r.name), r.meta.given ? el("span", { class: "mark" }, "from a file") : null] },
    ...CONDITIONS.map(([condition, label]) => ({
      key: condition, label, text: true, get: () => "", cell: (r) => answersCell(run, r.name, condition, index),
    })),
    { key: "differs", label: "answers differ", text: true, get: () => "", cell: (r) => differsCell(run, r.name, index) },
  ];
  const rows = run.systems.map((meta) => ({ name: meta.name, meta })).filter((r) => items.systems[r.name]);
  return [
    at("text") === undefined || at("text") === null
      ? el("p", { class: "empty" }, "The text of this pair is not in this file.")
      : quoted(at("text"), lang, "blockquote", "original"),
    el("p", { class: "question" }, "Question: ", quoted(at("question") ?? "", lang)),
    el("div", { class: "contexts" }, ["1", "2"].map((k) => el(
      "section", {},
      el("h4", {}, `Context ${k}`),
      el("p", {}, quoted(at(`context_${k}`) ?? "", lang)),
      el("p", { class: "answer" }, "Right answer: ", quoted(at(`answer_${k}`) ?? "", lang),
        at(`reading_${k}`) ? el("span", { class: "ci" }, ` (${flat(at(`reading_${k}`))})`) : null),
    ))),
    el("dl", { class: "facts" },
      at("category") ? fact("category", flat(at("category"))) : null,
      shareFact("systems disagree", at("disagreement")),
      shareFact("context mattered", at("mattered"))),
    dataTable({
      caption: "What every system answered", name: "pair", hideCaption: true, columns,
      groups: [
        { rows: rows.filter((r) => !r.meta.baseline) },
        { rows: rows.filter((r) => r.meta.baseline), label: "Baselines, for comparison", name: "baselines" },
      ],
    }),
  ];
}

/** The answers of one condition, one an attempt, each with its verdict and what it reads the emoji as. */
function answersCell(run, name, condition, index) {
  const own = run.items.systems[name] || {};
  const answers = atCondition(own.answer, condition, index);
  const verdicts = atCondition(own.verdict, condition, index);
  const readings = atCondition(own.reading, condition, index);
  const list = answers === null || answers === undefined ? [] : Array.isArray(answers) ? answers : [answers];
  if (!list.length) return el("span", { class: "soft" }, "no answer");
  return list.map((answer, attempt) => el(
    "div", { class: "attempt" },
    answer === null || answer === undefined ? el("span", { class: "warn" }, "no answer") : quoted(answer, run.items.lang?.[index], "q", "reply"),
    el("span", { class: "outcome" }, condition === "none" ? null : verdictMark(pick(verdicts, attempt)), readingMark(pick(readings, attempt), run, index)),
    own.error?.[condition]?.[index] ? el("span", { class: "warn" }, "failed: ", words(own.error[condition][index])) : null,
  ));
}

function atCondition(table, condition, index) {
  return table?.[condition]?.[index];
}

/** The part of an attempt: of a word one letter, of a list one member. */
function pick(values, attempt) {
  if (values === null || values === undefined) return null;
  return values[attempt] ?? null;
}

function verdictMark(letter) {
  const [sign, word, kind] = VERDICTS[letter] || VERDICTS["."];
  return el("span", { class: `verdict-mark ${kind}` }, el("span", { "aria-hidden": "true" }, sign), ` ${word}`);
}

/** Which of the two contexts' readings an answer has. */
function readingMark(reading, run, index) {
  if (reading === null || reading === "." || reading === undefined) return null;
  const known = { 1: "1", 2: "2", n: "neither", neither: "neither", "?": "not read" }[reading] || String(reading);
  const kind = run.items[`reading_${known}`]?.[index];
  const what = known === "1" || known === "2" ? `reads it as context ${known}${kind ? `, ${flat(kind)}` : ""}` : known === "neither" ? "reads it as neither" : flat(known);
  return el("span", { class: "ci" }, what);
}

/** Whether answers differ between conditions, as the verifier said in both orders. */
function differsCell(run, name, index) {
  const own = run.items.systems[name]?.differs || {};
  const rows = [["1-2", "1 and 2"], ["1-none", "1 and none"], ["2-none", "2 and none"]]
    .map(([pair, label]) => [label, own[pair]?.[index]])
    .filter(([, letters]) => letters !== undefined && letters !== null && letters !== "");
  if (!rows.length) return el("span", { class: "soft" }, "not compared");
  return rows.map(([label, letters]) => {
    const asked = [...letters].filter((letter) => letter !== ".");
    const yes = asked.filter((letter) => letter === "t").length;
    const unread = asked.filter((letter) => letter === "?").length;
    const word = yes === asked.length ? "differ" : yes ? `differ in ${yes} of ${asked.length} orders` : "the same";
    return el("span", { class: "label" }, `${label}: ${asked.length ? word : "not compared"}${unread ? `, ${unread} not read` : ""}`);
  });
}
