// One pair: a message, two contexts with their right answers, what every system answered in each condition.

const CONDITIONS = [
  ["1", "in context 1"],
  ["2", "in context 2"],
  ["none", "without context"],
];
const VERDICTS = {
  r: ["\u2713", "right", "good"],
  w: ["\u2717", "wrong", "warn"],
  "?": ["?", "not read", "warn"],
  ".": ["", "not judged", "soft"],
};

function pairDetail(run, index) {
  const { items } = run;
  const at = (name) => items[name]?.[index];
  const lang = at("lang");
  const columns = [
    {
      key: "system",
      label: "system",
      text: true,
      get: (r) => r.name,
      cell: (r) => [breakable(r.name), r.meta.given ? el("span", { class: "mark" }, "from a file") : null],
    },
    ...CONDITIONS.map(([condition, label]) => ({
      key: condition,
      label,
      text: true,
      get: () => "",
      cell: (r) => answersCell(run, r.name, condition, index),
    })),
    {
      key: "differs",
      label: "answers differ",
      text: true,
      get: () => "",
      cell: (r) => differsCell(run, r.name, index),
    },
  ];
  const rows = run.systems.map((meta) => ({ name: meta.name, meta })).filter((r) => items.systems[r.name]);
  return [
    at("text") === undefined || at("text") === null
      ? el("p", { class: "empty" }, "The text of this pair is not in this file.")
      : quoted(at("text"), lang, "blockquote", "original"),
    el("p", { class: "question" }, "Question: ", quoted(at("question") ?? "", lang)),
    el(
      "div",
      { class: "contexts" },
      ["1", "2"].map((k) =>
        el(
          "section",
          {},
          el("h4", {}, `Context ${k}`),
          el("p", {}, quoted(at(`context_${k}`) ?? "", lang)),
          el(
            "p",
            { class: "answer" },
            "Right answer: ",
            quoted(at(`answer_${k}`) ?? "", lang),
            at(`reading_${k}`) ? el("span", { class: "ci" }, ` (${flat(at(`reading_${k}`))})`) : null,
          ),
        ),
      ),
    ),
    el(
      "dl",
      { class: "facts" },
      at("category") ? fact("category", flat(at("category"))) : null,
      shareFact("systems disagree", at("disagreement")),
      shareFact("context mattered", at("mattered")),
    ),
    dataTable({
      caption: "What every system answered",
      name: "pair",
      hideCaption: true,
      columns,
      groups: [
        { rows: rows.filter((r) => !r.meta.baseline) },
        { rows: rows.filter((r) => r.meta.baseline), label: "Baselines, for comparison", name: "baselines" },
      ],
    }),
  ];
}

/** The answer in one condition, its verdict and what it reads the emoji as. */
function answersCell(run, name, condition, index) {
  const own = run.items.systems[name] || {};
  const answer = own.answer?.[condition]?.[index];
  if (answer === null || answer === undefined) return el("span", { class: "warn" }, "no answer");
  return el(
    "div",
    { class: "attempt" },
    quoted(answer, run.items.lang?.[index], "q", "reply"),
    el(
      "span",
      { class: "outcome" },
      condition === "none" ? null : verdictMark(own.verdict?.[condition]?.[index]),
      " ",
      readingMark(own.reading?.[condition]?.[index], run, index),
    ),
  );
}

function verdictMark(letter) {
  const [sign, word, kind] = VERDICTS[letter] || VERDICTS["."];
  return el("span", { class: `verdict-mark ${kind}` }, el("span", { "aria-hidden": "true" }, sign), ` ${word}`);
}

/** Which of the two contexts' readings an answer has. */
function readingMark(reading, run, index) {
  if (reading === "n") return el("span", { class: "ci" }, "reads it as neither");
  if (reading !== "1" && reading !== "2") return null;
  const kind = run.items[`reading_${reading}`]?.[index];
  return el("span", { class: "ci" }, `reads it as in context ${reading}${kind ? `, ${flat(kind)}` : ""}`);
}

const DIFFERENCES = { t: "differ", f: "the same", "?": "not read, or asked in one order only" };

/** Whether answers differ between conditions, as the verifier says. */
function differsCell(run, name, index) {
  const own = run.items.systems[name]?.differs || {};
  const rows = [
    ["1-2", "1 and 2"],
    ["1-none", "1 and none"],
    ["2-none", "2 and none"],
  ]
    .map(([pair, label]) => [label, DIFFERENCES[own[pair]?.[index]]])
    .filter(([, word]) => word);
  if (!rows.length) return el("span", { class: "soft" }, "not compared");
  return rows.map(([label, word]) => el("span", { class: "label" }, `${label}: ${word}`));
}
