// What a leaderboard of pairs shows: one message, two contexts, two right answers. Shares of the document are shown
// in percent.

const PAIR_MEASURES = [
  ["acc_pair", "both right", "pairs with the right answer in both contexts"],
  ["acc_query", "right", "answers that are right"],
  [
    "acc_pair_if_independent",
    "both, if independent",
    "what 'both right' would be if the two answers had nothing to do with each other",
  ],
  ["acc_pair_gain", "gain", "both right, less what it would be if independent"],
  ["context_awareness", "aware of context", "pairs whose answers differ between the contexts"],
  ["output_variability", "varies", "answers that differ from the one without context"],
  ["bias", "figurative", "answers that read the emoji figuratively"],
  ["bias_without_context", "figurative, no context", "the same without a context"],
];

const disambiguation = {
  unit: "share",
  noun: "pair",

  headlines: () => PAIR_MEASURES.filter(([key]) => key !== "acc_pair_gain").map(([key, label]) => [key, label]),

  filters(run) {
    return [
      choice("lang", "Language", sliceOptions(run, "lang", "All languages", languageName), state.lang, (lang) =>
        choose({ lang }),
      ),
      choice(
        "category",
        "Category",
        sliceOptions(run, "category", "All categories", flat),
        state.category,
        (category) => choose({ category }),
      ),
    ];
  },

  slice(run) {
    return findSlice(run, { lang: state.lang, category: state.category });
  },

  groups: [
    { id: "right", label: "Right answers", usual: true },
    { id: "context", label: "Use of context", usual: true },
    { id: "cost", label: "Length and cost", usual: false },
    { id: "failures", label: "Failures", usual: true },
  ],

  columns(run, slice, isWhole) {
    const measure = ([key, label, title]) => ({
      group: key.startsWith("acc") ? "right" : "context",
      key,
      label,
      title,
      unit: "share",
      optional: true,
      get: (row) => row.slice?.[key] ?? (isWhole ? (row.scores[key] ?? null) : null),
    });
    const cost = (key, label, unit, read) => ({
      group: "cost",
      key,
      label,
      unit,
      optional: true,
      get: (row) => (isWhole ? costOf(row.meta, read(row.meta)) : null),
    });
    return [
      ...PAIR_MEASURES.map(measure),
      cost("calls", "calls", "count", (m) => m.calls),
      cost("tokens_in", "tokens in", "count", (m) => m.tokens?.input),
      cost("tokens_out", "tokens out", "count", (m) => m.tokens?.output),
      cost("seconds", "seconds", "score", (m) => m.seconds?.total),
      cost("seconds_per_call", "seconds a call", "score", (m) => m.seconds?.per_call),
      cost("usd", "US dollars", "fine", (m) => m.usd),
      {
        group: "failures",
        key: "failures",
        label: "failures",
        title: "calls that failed, answers or verdicts missing or not read",
        optional: true,
        get: (row) => (isWhole ? sumOf(pairFailureCounts(row)) : null),
        cell: (row) => failureCell(pairFailureCounts(row)),
      },
    ];
  },

  verdict(run) {
    const { systems, verifier } = run.document;
    const own = run.systems.filter((system) => !system.baseline && systems[system.name]);
    const baselines = run.systems
      .filter((system) => system.baseline && isKnown(systems[system.name]?.acc_pair))
      .map((s) => [s.name, systems[s.name].acc_pair]);
    const best = baselines.sort((a, b) => numberOf(b[1]) - numberOf(a[1]))[0];
    const right = (name) => sentenceNumber(systems[name].acc_pair, "share");
    const first = own
      .filter((s) => isKnown(systems[s.name].acc_pair))
      .sort((a, b) => numberOf(systems[b.name].acc_pair) - numberOf(systems[a.name].acc_pair))[0];
    return [
      bestSentence(own, systems),
      first
        ? `${flat(first.name)} gives the right answer in both contexts of ${right(first.name)} percent of pairs${best ? `; the best baseline, ${flat(best[0])}, of ${right(best[0])}` : ""}.`
        : null,
      first && best ? againstBaseline(run, first.name, best[0]) : null,
      verifier?.name
        ? `Answers are held against the right ones by ${flat(verifier.name)}; Trust says how good it is.`
        : null,
    ];
  },

  alerts(run) {
    const { warnings = [], systems } = run.document;
    const failed = run.systems.map((s) => [s.name, s.failed || 0]).filter(([, n]) => n);
    const unparsed = Object.entries(systems)
      .map(([name, s]) => [name, total(s.unparsed)])
      .filter(([, n]) => n);
    return [
      failed.length ? `Calls without an answer: ${countsText(failed)}.` : null,
      unparsed.length ? `Not read: ${countsText(unparsed)}.` : null,
      ...warnings,
    ];
  },

  perceived: () => false,

  detail(row) {
    const parts = [
      ["category", row.scores.by_category],
      ["language", row.scores.by_lang],
    ].filter(([, by]) => by && Object.keys(by).length);
    return el(
      "div",
      { class: "classes" },
      parts.map(([what, by]) =>
        dataTable({
          caption: `By ${what}`,
          name: `class-${row.name}-${what}`,
          label: `${row.name}: by ${what}`,
          columns: [
            { key: "name", label: what, text: true, get: (r) => (what === "language" ? languageName(r.name) : r.name) },
            { key: "pairs", label: "pairs", unit: "count", get: (r) => r.pairs },
            ...PAIR_MEASURES.map(([key, label, title]) => ({
              key,
              label,
              title,
              unit: "share",
              optional: true,
              get: (r) => r[key] ?? null,
            })),
          ],
          groups: [{ rows: Object.entries(by).map(([name, scores]) => ({ name, ...scores })) }],
        }),
      ),
    );
  },

  after(run) {
    return [differencesSection(run, "share")];
  },
};

function pairFailureCounts(row) {
  return { missing: Math.max(row.meta.failed || 0, total(row.scores.no_answer)), unparsed: total(row.scores.unparsed) };
}

/** The best system against the best baseline, as the run tested it. */
function againstBaseline(run, system, baseline) {
  const found = (run.document.differences || []).find(
    (d) =>
      d.measure === "acc_pair" && [d.system, d.against].includes(system) && [d.system, d.against].includes(baseline),
  );
  if (!found || numberOf(found.difference) === null) return null;
  const turned = turnedTo(system, found, intervalOf(found.difference));
  const [ours, theirs] = [system, baseline].map((name) => run.document.systems[name].rank);
  // a document that an earlier version saved has only places
  const tied = found.separated === undefined ? placesOverlap(ours, theirs) : !found.separated;
  const all = plural(comparisonsOf(run), "comparison");
  return (
    `That is ${sentenceNumber(turned, "share", true)} points against ${flat(baseline)} (p ${probability(found.p)?.replace(/^([^<])/, "= $1")})` +
    (tied ? `, by itself; with all ${all} at once they are a tie.` : ".")
  );
}

function placesOverlap(ours, theirs) {
  return ours && theirs && ours[0] <= theirs[1] && theirs[0] <= ours[1];
}
