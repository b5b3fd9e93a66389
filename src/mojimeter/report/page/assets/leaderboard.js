// The first tab: a verdict, a chart and a table of systems, for all items or for a part of them.

// Fewer items than this are too few to say much of a system: the same as for a part of the data.
const FEW = 10;

function leaderboardTab(runs) {
  const run = chosenRun(runs);
  if (!run)
    return emptyTab(
      "Leaderboard",
      "Nothing here yet: a run of 'mojimeter recommend', 'score' or 'disambiguate' fills this tab.",
    );
  const kind = run.kind === "recommendation" ? recommendation : disambiguation;
  const slice = kind.slice(run);
  const headlines = kind.headlines(run);
  const [headline, headlineLabel] = headlines.find(([key]) => key === state.task) || headlines[0];
  return [
    el("h2", {}, "Leaderboard"),
    verdictBlock(run, kind),
    el(
      "div",
      { class: "controls" },
      runPicker(runs, run),
      kind.filters(run),
      choice("task", "Score", headlines, headline, (task) =>
        choose({ task: task === headlines[0][0] ? "" : task, sort: "" }),
      ),
      choice("strategy", "Strategy", strategyOptions(run), state.strategy, (strategy) => choose({ strategy })),
      run.systems.some((s) => s.baseline)
        ? toggle("baselines", "Baselines", state.baselines === "1", (on) => choose({ baselines: on ? "1" : "0" }))
        : null,
    ),
    slice.refused
      ? el("p", { class: "alert" }, marked(slice.refused))
      : scoresBlock(run, kind, slice, headline, headlineLabel, headlines),
    slice.isWhole ? kind.after(run) : null,
    el("p", { class: "signature" }, run.signature ? [hiddenText("Signature: "), words(run.signature)] : null),
  ];
}

function verdictBlock(run, kind) {
  const [first, ...rest] = kind.verdict(run).filter(Boolean);
  const { data = {} } = run.document;
  const counted = [
    plural(data[`${kind.noun}s`] ?? run.items?.n ?? 0, kind.noun),
    data.authors ? `by ${plural(data.authors, "author")}` : null,
    data.without_emoji ? `(${data.without_emoji.toLocaleString("en-US")} without emoji in the original)` : null,
  ]
    .filter(Boolean)
    .join(" ");
  return [
    el("p", { class: "counted" }, [words(run.name), ": ", counted]),
    first ? el("p", { class: "verdict" }, words(first)) : null,
    rest.length ? el("p", { class: "explain" }, words(rest.join(" "))) : null,
    sentences(kind.alerts(run), "alerts"),
    sentences(run.notes || []),
    kind.perceived(run) ? el("p", { class: "perceived" }, PERCEIVED) : null,
  ];
}

function scoresBlock(run, kind, slice, headline, headlineLabel, headlines) {
  const rows = leaderboardRows(run, slice);
  const visible = rows.filter(
    (row) =>
      (state.baselines === "1" || !row.meta.baseline) && (!state.strategy || row.meta.strategy === state.strategy),
  );
  if (!visible.length) return el("p", { class: "empty" }, "No system is left by these choices.");
  const places = rows.length;
  const all = leaderboardColumns(
    run,
    kind,
    slice,
    headlines.find(([key]) => key === headline),
    places,
  );
  const shown = shownGroups(kind);
  const columns = all.filter((column) => !column.group || shown.has(column.group));
  const sort = sortChoice(columns, headline);
  const column = columns.find((c) => c.key === sort.key);
  const own = sortedRows(
    visible.filter((row) => !row.meta.baseline),
    column,
    sort.down,
  );
  const baselines = sortedRows(
    visible.filter((row) => row.meta.baseline),
    column,
    sort.down,
  );
  const title = `${headlineLabel}, percent`;
  const isRanked = headline === headlines[0][0];
  const scale = UNITS[kind.unit].scale;
  const chartRows = [own, baselines]
    .flatMap((part) =>
      sortedRows(
        part,
        all.find((c) => c.key === headline),
        true,
      ),
    )
    .map((row) => {
      const value = headlineOf(row, headline, slice);
      const ci = intervalOf(value);
      const number = numberOf(value);
      return {
        name: row.name,
        value: number === null ? null : number * scale,
        low: ci && ci[0] !== null ? ci[0] * scale : null,
        high: ci && ci[1] !== null ? ci[1] * scale : null,
        rank: isRanked ? row.rank : null,
        baseline: row.meta.baseline,
      };
    });
  return [
    slice.isWhole ? null : el("p", { class: "counted" }, sliceSentence(slice, kind)),
    leaderboardChart({ rows: chartRows, title, places }),
    el(
      "div",
      { class: "controls" },
      el("span", { class: "legend", id: "columns-label" }, "Columns"),
      el(
        "div",
        { class: "toggles", role: "group", "aria-labelledby": "columns-label" },
        kind.groups
          .filter((group) => all.some((c) => c.group === group.id && visible.some((row) => isKnown(c.get(row)))))
          .map((group) =>
            toggle(`columns-${group.id}`, group.label, shown.has(group.id), () =>
              choose({ columns: toggled(state.columns, group.id) }),
            ),
          ),
      ),
      downloadButtons(() => savedLeaderboard(run, slice, columns, [...own, ...baselines])),
    ),
    dataTable({
      caption: `Leaderboard: ${title}`,
      name: "leaderboard",
      hideCaption: true,
      columns,
      groups: [{ rows: own }, { rows: baselines, label: "Baselines, for comparison", name: "baselines" }],
      sort,
      onSort: (key, down) => choose({ sort: `${key}:${down ? "down" : "up"}` }),
      detail: (row) => (slice.isWhole && inList(state.open, row.name) ? kind.detail(row) : null),
    }),
    isRanked ? null : el("p", { class: "explain" }, `Places are those by ${headlines[0][1]}.`),
  ];
}

function leaderboardRows(run, slice) {
  return run.systems
    .filter((meta) => slice.systems[meta.name] || (slice.isWhole && run.document.systems[meta.name]))
    .map((meta) => ({
      name: meta.name,
      meta,
      scores: run.document.systems[meta.name] || {},
      slice: slice.systems[meta.name] || {},
      rank: slice.systems[meta.name]?.rank || (slice.isWhole ? run.document.systems[meta.name]?.rank : null) || null,
    }));
}

/** The number that the table is about, for a row. */
function headlineOf(row, headline, slice) {
  const found = row.slice[headline];
  if (found !== undefined || !slice.isWhole) return found ?? null;
  return row.scores.preservation?.[headline] ?? row.scores.overlap?.[headline] ?? row.scores[headline] ?? null;
}

function leaderboardColumns(run, kind, slice, [headline, headlineLabel, shortLabel = headlineLabel], places) {
  const rest = kind.columns(run, slice, slice.isWhole);
  return [
    {
      key: "system",
      label: "system",
      text: true,
      get: (row) => row.name,
      cell: (row) => systemCell(row, slice.isWhole, slice[`${kind.noun}s`]),
    },
    {
      key: "place",
      saved: "rank",
      label: "place",
      up: true,
      get: (row) => row.rank && row.rank[0],
      order: (row) => row.rank && row.rank[0] + row.rank[1] / 1000,
      cell: (row) => placeCell(row.rank, places),
      value: (row) => row.rank,
      optional: true,
      title: "places that these data leave open at 95%",
    },
    {
      key: headline,
      label: shortLabel,
      title: headlineLabel,
      unit: kind.unit,
      get: (row) => headlineOf(row, headline, slice),
      cell: (row) => headlineCell(row, headline, slice, kind.unit),
    },
    ...rest.filter((column) => column.key !== headline),
  ];
}

function headlineCell(row, headline, slice, unit) {
  const content = numberCell(headlineOf(row, headline, slice), unit);
  return content && el("span", { class: "headline" }, content);
}

/** A system's name, its marks, and the button that opens its classes. */
function systemCell(row, canOpen, all) {
  const posts = row.slice.posts ?? row.slice.pairs ?? null;
  const open = inList(state.open, row.name);
  const marks = [
    row.meta.strategy ? el("span", { class: "mark" }, words(row.meta.strategy)) : null,
    row.meta.kin?.length
      ? el(
          "span",
          { class: "mark warn", title: "the judge is this system or of the same maker" },
          `kin of judge ${flat(row.meta.kin.join(", "))}`,
        )
      : null,
    posts !== null && all && posts < all
      ? el(
          "span",
          { class: posts < FEW ? "mark warn" : "mark", title: "scored on these only" },
          `${posts.toLocaleString("en-US")} of ${all.toLocaleString("en-US")}`,
        )
      : null,
    row.scores.leaked
      ? el("span", { class: "mark warn", title: "was told the judge's own label of age or gender" }, "leaked")
      : null,
  ];
  const name = [breakable(row.meta.strategy && row.meta.base ? row.meta.base : row.name), marks];
  if (!canOpen) return name;
  return el(
    "button",
    {
      type: "button",
      class: "open",
      "aria-expanded": String(open),
      data: { key: `open-${row.name}` },
      title: "show by class",
      on: { click: () => choose({ open: toggled(state.open, row.name) }) },
    },
    el("span", { class: "chevron", "aria-hidden": "true" }, "\u203a"),
    el("span", {}, name),
  );
}

function sortChoice(columns, headline) {
  const [key, direction] = state.sort.split(":");
  return columns.some((column) => column.key === key)
    ? { key, down: direction === "down" }
    : { key: headline, down: true };
}

/** The groups of columns to show; the address holds those that differ from what is usual. */
function shownGroups(kind) {
  const changed = new Set(state.columns.split("\n").filter(Boolean));
  return new Set(kind.groups.filter((group) => group.usual !== changed.has(group.id)).map((group) => group.id));
}

function strategyOptions(run) {
  const strategies = [...new Set(run.systems.map((s) => s.strategy).filter(Boolean))];
  return strategies.length < 2 ? [] : [["", "All strategies"], ...strategies.map((s) => [s, flat(s)])];
}

function sliceOptions(run, field, all, label) {
  const values = [...new Set(run.slices.map((slice) => slice[field]).filter((v) => v !== null && v !== undefined))];
  return values.length < 2 ? [] : [["", all], ...values.map((value) => [value, label(value)])];
}

/** The slice that fits the choices; a choice that the run does not know counts as all. */
function findSlice(run, wanted) {
  const [whole] = run.slices;
  const chosen = Object.entries(wanted).filter(
    ([field, value]) => value && run.slices.some((slice) => slice[field] === value),
  );
  if (!chosen.length) return { systems: {}, ...whole, isWhole: true };
  const fits = (slice) =>
    Object.keys(wanted).every((field) => (slice[field] ?? null) === (Object.fromEntries(chosen)[field] ?? null));
  const found = run.slices.slice(1).find(fits);
  return found
    ? { systems: {}, ...found, isWhole: false }
    : { systems: {}, isWhole: false, refused: "There is nothing that fits all of these choices." };
}

function sliceSentence(slice, kind) {
  const what = [
    slice.lang && languageName(slice.lang),
    slice.group && flat(slice.group),
    slice.category && flat(slice.category),
  ]
    .filter(Boolean)
    .join(", ");
  const n = slice[`${kind.noun}s`];
  return `Only ${what}: ${n === undefined ? "" : plural(n, kind.noun)}${slice.authors ? ` by ${plural(slice.authors, "author")}` : ""}. Intervals and places are of this part; the sentences above are about all ${kind.noun}s.`;
}

function savedLeaderboard(run, slice, columns, rows) {
  const shown = columns.filter((column) => !column.optional || rows.some((row) => isKnown(column.get(row))));
  const part = Object.fromEntries(["lang", "group", "category"].filter((f) => slice[f]).map((f) => [f, slice[f]]));
  const saved = savedRows(shown, rows).map((row, k) => ({ ...row, baseline: Boolean(rows[k].meta.baseline) }));
  return {
    name: `${run.name}-leaderboard`,
    about: { run: run.name, signature: run.signature ?? null, ...part },
    rows: saved,
  };
}

/** How many pairs of systems a run compares at once; its places allow for all of them. */
function comparisonsOf(run) {
  const n = Object.keys(run.document.systems).length;
  return (n * (n - 1)) / 2;
}

/** All differences that the run tested, folded away. */
function differencesSection(run, unit) {
  const rows = run.document.differences || [];
  if (!rows.length) return null;
  const columns = [
    { key: "system", label: "system", text: true, get: (d) => d.system },
    { key: "against", label: "against", text: true, get: (d) => d.against },
    { key: "measure", label: "measure", text: true, optional: true, get: (d) => d.measure ?? null },
    {
      key: "difference",
      label: "difference",
      unit,
      get: (d) => d.difference,
      cell: (d) => numberCell(d.difference, unit, { sign: true }),
    },
    { key: "p", label: "p", get: (d) => d.p ?? null, cell: (d) => probability(d.p) },
    {
      key: "separated",
      label: `all ${comparisonsOf(run).toLocaleString("en-US")} at once`,
      optional: true,
      title: "with the interval that holds for all comparisons together, which decides places",
      get: (d) => (d.separated === undefined ? null : d.separated ? "different" : "tie"),
      cell: (d) => [
        el("span", { class: "value" }, d.separated ? "different" : "tie"),
        d.simultaneous_ci ? el("span", { class: "ci" }, formattedInterval(d.simultaneous_ci, unit)) : null,
      ],
    },
    {
      key: "detectable",
      label: "detectable",
      unit,
      optional: true,
      get: (d) => d.detectable ?? null,
      title: "the difference that these data would have found four times in five",
    },
    { key: "n", label: "items", unit: "count", optional: true, get: (d) => d.posts ?? d.pairs ?? null },
  ];
  return el(
    "details",
    { class: "more" },
    el("summary", {}, `Differences between systems (${rows.length})`),
    dataTable({
      caption: rows.some((d) => d.separated !== undefined)
        ? "Paired differences in percentage points: 95% intervals of each by itself, and of all comparisons at once"
        : "Paired differences with 95% intervals, percentage points",
      name: "differences",
      columns,
      groups: [{ rows }],
    }),
  );
}

/** Several judges: would others rank the systems the same? */
function panelSection(run) {
  const { panel, by_judge: byJudge } = run.document;
  if (!panel) return null;
  const rows = panel.ranking || [];
  const columns = [
    { key: "system", label: "system", text: true, get: (r) => r.system },
    { key: "place", label: "place", get: (r) => r.rank && r.rank[0], cell: (r) => placeCell(r.rank, rows.length) },
    { key: "mean", label: "mean of judges", get: (r) => r.mean },
    ...panel.judges.map((judge) => ({
      key: judge,
      label: flat(judge),
      get: (r) => byJudge?.[judge]?.[r.system]?.[panel.scored_by] ?? null,
    })),
  ];
  return el(
    "section",
    {},
    el("h3", {}, "Would other judges rank them the same?"),
    el("p", { class: "verdict" }, words(sentenceCase(panel.sentence))),
    rows.length
      ? dataTable({ caption: "Ranking by the panel of judges, percent", name: "panel", columns, groups: [{ rows }] })
      : null,
    sentences(run.panel_caveats || []),
    panel.left_out?.systems?.length
      ? el("p", {}, words(`Not in this comparison: ${panel.left_out.systems.join(", ")}.`))
      : null,
  );
}
