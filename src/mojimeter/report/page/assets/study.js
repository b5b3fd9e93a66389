// The fourth tab: may these ratings rank the systems? Where the variance lies, what more raters would bring, who
// rates how, and what is left of the ranking at equal length.

function studyTab(runs) {
  const run = chosenRun(runs);
  if (!run)
    return emptyTab(
      "Rating study",
      "Nothing here yet: a table of ratings (item, system, rater, score), or a run with several judges, fills this tab.",
    );
  const { study, document } = run;
  return [
    el("h2", {}, "Rating study"),
    el("div", { class: "controls" }, runPicker(runs, run)),
    el(
      "p",
      { class: "counted" },
      words(`${run.name}: ${document.describe || ""}`),
      run.of ? words(` (the judges of ${run.of} as raters)`) : null,
    ),
    el("p", { class: "verdict" }, words(sentenceCase(study.sentence || "there is no verdict on these ratings"))),
    sentences(document.next_steps || [], "steps"),
    sentences(
      [document.refused, ...(study.cautions || []), ...new Set([...(document.notes || []), ...(run.notes || [])])],
      "alerts",
    ),
    rankingSection(run),
    el("div", { class: "pair-of" }, varianceSection(run), curveSection(run), ratersSection(run), agreementSection(run)),
    lengthSection(run),
    el("p", { class: "signature" }, run.signature ? words(run.signature) : null),
  ];
}

function rankingSection(run) {
  const rows = run.study.ranking || [];
  if (!rows.length) return null;
  const places = rows.length;
  const low = run.document.higher_is_better === false ? "lower is better" : "higher is better";
  const columns = [
    { key: "system", label: "system", text: true, get: (r) => r.system, cell: (r) => breakable(r.system) },
    {
      key: "place",
      saved: "rank",
      label: "place",
      get: (r) => r.rank && r.rank[0],
      cell: (r) => placeCell(r.rank, places),
      value: (r) => r.rank,
    },
    { key: "mean", label: "mean", unit: "score", get: (r) => r.mean },
    {
      key: "deviation",
      label: "from the average",
      unit: "score",
      optional: true,
      get: (r) => r.deviation ?? null,
      cell: (r) => numberCell(r.deviation, "score", { sign: true }),
      title: "intervals without what raters and items share",
    },
    { key: "best", label: "chance of being best", unit: "share", optional: true, get: (r) => r.best ?? null },
  ];
  const byDeviation = rows.every((r) => intervalOf(r.deviation));
  const value = (r) => (byDeviation ? r.deviation : r.mean);
  return el(
    "section",
    {},
    el("h3", {}, "Ranking"),
    el(
      "div",
      { class: "controls" },
      downloadButtons(() => ({
        name: `${run.name}-ranking`,
        about: { run: run.name, signature: run.signature ?? null },
        rows: savedRows(columns, rows),
      })),
    ),
    el(
      "div",
      { class: "pair-of" },
      dataTable({
        caption: `Ranking with 95% intervals; ${low}; place: what these data leave open, all pairs compared at once`,
        name: "ranking",
        columns,
        groups: [{ rows }],
      }),
      dotChart({
        rows: rows.map((r) => ({ name: r.system, value: value(r) })),
        title: byDeviation ? "difference from the average system" : "mean score",
        zero: byDeviation,
        label: `Systems by ${byDeviation ? "difference from the average" : "mean"}: ${rows.map((r) => `${flat(r.system)} ${sentenceNumber(value(r), "score", byDeviation)}, place ${placeText(r.rank)}`).join("; ")}.`,
      }),
    ),
  );
}

function varianceSection(run) {
  const rows = (run.study.variance || []).filter((r) => typeof r.share === "number");
  if (!rows.length) return null;
  const sorted = [...rows].sort((a, b) => b.share - a.share);
  const label = `Share of the variance by source: ${sorted.map((r) => `${sourceName(r.source)} ${formatted(r.share, "share")} percent`).join("; ")}.`;
  const system = rows.find((r) => r.source === "system");
  return el(
    "section",
    {},
    el("h3", {}, "Where the scores differ"),
    system
      ? el(
          "p",
          { class: "explain" },
          `Systems account for ${formatted(system.share, "share")} percent of the variance of single ratings.`,
        )
      : null,
    chart({
      label,
      specify: (theme, width) => {
        const names = sorted.map((r) => sourceName(r.source));
        const labels = Math.min(180, width * 0.4);
        const y = {
          field: "source",
          type: "nominal",
          sort: names,
          title: null,
          axis: { labelLimit: labels, domain: false, ticks: false },
        };
        const values = sorted.map((r) => ({
          source: sourceName(r.source),
          share: 100 * r.share,
          text: `${formatted(r.share, "share")}%`,
          own: r.source === "system",
        }));
        return {
          width: Math.max(width - labels - 70, 80),
          height: { step: 24 },
          data: { values },
          layer: [
            {
              mark: { type: "bar", height: 14, cornerRadiusEnd: 2 },
              encoding: {
                x: { field: "share", type: "quantitative", title: "percent of variance" },
                y,
                color: { condition: { test: "datum.own", value: theme.accent }, value: theme.base },
              },
            },
            {
              mark: { type: "text", align: "left", dx: 6, color: theme.ink },
              encoding: { x: { field: "share", type: "quantitative" }, y, text: { field: "text" } },
            },
          ],
        };
      },
    }),
    dataTable({
      caption: "Variance components",
      name: "variance",
      columns: [
        { key: "source", label: "source", text: true, get: (r) => sourceName(r.source) },
        { key: "share", label: "share, percent", unit: "share", get: (r) => r.share },
        {
          key: "estimate",
          label: "component",
          unit: "fine",
          get: (r) => (r.ci ? { value: r.estimate, ci: r.ci } : r.estimate),
          title: "as estimated; below zero counts as zero",
        },
      ],
      groups: [{ rows }],
    }),
  );
}

function sourceName(source) {
  return flat(source).replaceAll(":", " \u00d7 ");
}

function curveSection(run) {
  const rows = (run.study.g_curve || []).filter((r) => numberOf(r.g) !== null);
  if (rows.length < 2) return null;
  const now = run.study.raters_now;
  const needed = Object.entries(run.document.raters_needed || {}).map(
    ([target, estimate]) => `${neededText(estimate)} for G = ${target}`,
  );
  const intervals = rows.every((r) => intervalOf(r.g));
  const label = `G over the number of raters: ${rows.map((r) => `${r.raters}: ${sentenceNumber(r.g, "score")}`).join("; ")}.`;
  return el(
    "section",
    {},
    el("h3", {}, "What more raters would bring"),
    needed.length ? el("p", { class: "explain" }, `Raters needed: ${needed.join("; ")}.`) : null,
    chart({
      label,
      caption: `G: how far another panel of so many raters would rank the systems alike, 0 to 1${intervals ? "; band: 95% interval" : ""}; dashed: 0.8${now ? `; dot: this study, ${now} raters` : ""}.`,
      specify: (theme, width) => {
        const x = {
          field: "raters",
          type: "quantitative",
          title: "raters",
          scale: { type: "log", nice: false },
          axis: { values: ticksOf(rows, width), format: "d", grid: false },
        };
        const y = { field: "g", type: "quantitative", title: "G", scale: { domain: [0, 1] } };
        return {
          width: Math.max(width - 60, 120),
          height: 220,
          data: {
            values: rows.map((r) => ({
              raters: r.raters,
              g: r.g.value,
              low: intervalOf(r.g)?.[0] ?? r.g.value,
              high: intervalOf(r.g)?.[1] ?? r.g.value,
              now: r.raters === now,
            })),
          },
          layer: [
            {
              mark: { type: "area", color: theme.band, opacity: 0.35 },
              encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" } },
            },
            {
              data: { values: [{ g: 0.8 }] },
              mark: { type: "rule", strokeDash: [5, 4], color: theme.soft },
              encoding: { y },
            },
            { mark: { type: "line", color: theme.accent, strokeWidth: 2 }, encoding: { x, y } },
            {
              transform: [{ filter: "datum.now" }],
              mark: { type: "point", filled: true, size: 80, color: theme.accent, opacity: 1 },
              encoding: { x, y },
            },
          ],
        };
      },
    }),
    el(
      "details",
      { class: "more" },
      el("summary", {}, "The same as a table"),
      dataTable({
        caption: "G over the number of raters, at this study's items",
        name: "g-curve",
        columns: [
          { key: "raters", label: "raters", get: (r) => r.raters, cell: (r) => String(r.raters) },
          { key: "g", label: "G (ranking)", unit: "score", get: (r) => r.g },
          { key: "phi", label: "Phi (level)", unit: "score", optional: true, get: (r) => r.phi ?? null },
        ],
        groups: [{ rows: run.study.g_curve }],
      }),
    ),
  );
}

function neededText(estimate) {
  const number = numberOf(estimate);
  const word =
    number === null
      ? flat(estimate?.state === "never" ? "no number of raters" : estimate?.reason || estimate?.state || "not known")
      : String(number);
  return word + (intervalOf(estimate) ? ` ${formattedInterval(estimate.ci, "count")}` : "");
}

function ticksOf(rows, width) {
  const wanted = width < 500 ? [1, 3, 10, 30, 100] : [1, 2, 3, 5, 10, 20, 50, 100];
  const last = rows[rows.length - 1].raters;
  return wanted.filter((n) => n >= rows[0].raters && n <= last);
}

function ratersSection(run) {
  const rows = run.study.raters || [];
  if (!rows.length) return null;
  return el(
    "section",
    {},
    el("h3", {}, "Raters"),
    rows.length <= 40
      ? dotChart({
          rows: rows.map((r) => ({ name: r.rater, value: r.mean })),
          title: "mean score",
          label: `Mean score by rater: ${rows.map((r) => `${flat(r.rater)} ${sentenceNumber(r.mean, "score")}`).join("; ")}.`,
        })
      : null,
    dataTable({
      caption: "Raters; slope: how a rater's score moves with the mean of the others",
      name: "raters",
      columns: [
        { key: "rater", label: "rater", text: true, get: (r) => r.rater, cell: (r) => named(r.rater) },
        { key: "n", label: "ratings", unit: "count", get: (r) => r.n },
        { key: "mean", label: "mean", unit: "score", get: (r) => r.mean },
        { key: "sd", label: "spread (SD)", unit: "score", get: (r) => r.sd },
        { key: "slope", label: "slope on others", unit: "score", optional: true, get: (r) => r.slope ?? null },
      ],
      groups: [{ rows }],
    }),
  );
}

/** Points with intervals, one row each. */
function dotChart({ rows, title, label, zero = false }) {
  const known = rows.filter((r) => numberOf(r.value) !== null);
  if (!known.length) return null;
  return chart({
    label,
    specify: (theme, width) => {
      const names = chartNames(known.map((r) => r.name));
      const labels = Math.min(width * 0.4, 14 + 6.6 * Math.max(...names.map((n) => n.length)));
      const y = {
        field: "name",
        type: "nominal",
        sort: names,
        title: null,
        axis: { labelLimit: labels, domain: false, ticks: false, labelPadding: 8 },
      };
      const x = (field) => ({ field, type: "quantitative", title, scale: { zero: false } });
      const values = known.map((r, k) => ({
        name: names[k],
        value: numberOf(r.value),
        low: intervalOf(r.value)?.[0] ?? numberOf(r.value),
        high: intervalOf(r.value)?.[1] ?? numberOf(r.value),
      }));
      return {
        width: Math.max(width - labels - 40, 80),
        height: { step: 22 },
        data: { values },
        layer: [
          ...(zero
            ? [
                {
                  data: { values: [{ at: 0 }] },
                  mark: { type: "rule", color: theme.base, strokeDash: [3, 4] },
                  encoding: { x: x("at") },
                },
              ]
            : []),
          {
            mark: { type: "rule", color: theme.accent, strokeWidth: 2 },
            encoding: { x: x("low"), x2: { field: "high" }, y },
          },
          {
            mark: { type: "point", filled: true, size: 60, color: theme.accent, opacity: 1 },
            encoding: { x: x("value"), y },
          },
        ],
      };
    },
  });
}

function lengthSection(run) {
  const columns = run.study.length?.columns;
  if (!columns) {
    const why = run.study.length_reason;
    return el(
      "section",
      {},
      el("h3", {}, "At equal length"),
      el("p", { class: "explain" }, words(`Not known: ${why}.`)),
    );
  }
  return Object.entries(columns).map(([name, found]) => lengthOfColumn(run, name, found));
}

function lengthOfColumn(run, name, found) {
  const raw = new Map((run.study.ranking || []).map((r) => [r.system, r]));
  const rows = (found.matched_ranking || []).map((r) => ({ ...r, raw: raw.get(r.system) }));
  return el(
    "section",
    {},
    el("h3", {}, `At equal length: ${flat(name)}`),
    el(
      "p",
      { class: "explain" },
      `Score per unit of ${flat(name)}, over outputs for one item: ${sentenceNumber(found.slope_panel, "fine", true)}.`,
    ),
    rows.length
      ? dataTable({
          caption: `Ranking beside the one on pairs of equal ${flat(name)}`,
          name: `length-${name}`,
          columns: [
            { key: "system", label: "system", text: true, get: (r) => r.system, cell: (r) => breakable(r.system) },
            {
              key: "raw",
              label: "place by mean",
              get: (r) => r.raw?.rank?.[0] ?? null,
              cell: (r) => placeCell(r.raw?.rank, rows.length),
              optional: true,
            },
            { key: "mean", label: "mean", unit: "score", optional: true, get: (r) => r.raw?.mean ?? null },
            {
              key: "rank",
              label: "rank at equal length",
              unit: "score",
              optional: true,
              get: (r) => r.rank ?? null,
              cell: (r) => (r.rank === null ? null : String(r.rank)),
            },
            { key: "win_rate", label: "wins at equal length, percent", unit: "share", get: (r) => r.win_rate },
            { key: "matched", label: "comparisons", unit: "count", optional: true, get: (r) => r.matched ?? null },
          ],
          groups: [{ rows }],
        })
      : null,
    found.by_rater?.length
      ? dataTable({
          caption: `Slope on ${flat(name)} by rater`,
          name: `slope-${name}`,
          columns: [
            { key: "rater", label: "rater", text: true, get: (r) => r.rater, cell: (r) => named(r.rater) },
            { key: "slope", label: "score per unit", unit: "fine", get: (r) => r.slope },
          ],
          groups: [{ rows: found.by_rater }],
        })
      : null,
  );
}

const AGREEMENT_NAMES = {
  alpha: "Krippendorff's alpha",
  icc: "ICC",
  pearson: "Pearson, mean of pairs",
  spearman: "Spearman, mean of pairs",
  kappas: "kappa",
};

function agreementSection(run) {
  const { agreement } = run.study;
  if (!agreement) return null;
  if (agreement.reason && !agreement.alpha)
    return el(
      "section",
      {},
      el("h3", {}, "Agreement"),
      el("p", { class: "explain" }, words(`Not known: ${agreement.reason}.`)),
    );
  const rows = [];
  for (const [key, label] of Object.entries(AGREEMENT_NAMES)) collectEstimates(agreement[key], label, rows);
  const level = agreement.level || "interval";
  const first = [`Krippendorff's alpha, ${level}`, "ICC, 2,1", "Pearson, mean of pairs", "Spearman, mean of pairs"];
  const table = (part, caption, name) =>
    dataTable({
      caption,
      name,
      columns: [
        { key: "name", label: "coefficient", text: true, get: (r) => r.name },
        { key: "value", label: "value", unit: "fine", get: (r) => r.value },
      ],
      groups: [{ rows: part }],
    });
  const others = rows.filter((r) => !first.includes(r.name));
  return el(
    "section",
    {},
    el("h3", {}, "Agreement of raters"),
    agreement.sampled_ratings
      ? el(
          "p",
          { class: "explain" },
          `From ${agreement.sampled_ratings.toLocaleString("en-US")} ratings drawn as whole items.`,
        )
      : null,
    table(
      rows.filter((r) => first.includes(r.name)),
      "Agreement on single ratings, with 95% intervals",
      "agreement",
    ),
    others.length
      ? el(
          "details",
          { class: "more" },
          el("summary", {}, `All other coefficients (${others.length})`),
          table(others, "Other coefficients of agreement, with 95% intervals", "agreement-others"),
        )
      : null,
  );
}

/** Estimates anywhere in a nest, with the names that lead to each. */
function collectEstimates(value, name, out) {
  if (value === null || value === undefined) return;
  if (isEstimate(value) || typeof value === "number") out.push({ name, value });
  else if (typeof value === "object")
    for (const [key, part] of Object.entries(value))
      collectEstimates(part, `${name}, ${flat(key).replaceAll("_", " ")}`, out);
}
