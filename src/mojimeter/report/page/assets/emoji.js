// The third tab: which emoji each system likes, beside those of the posts' writers, as emoji.

const TOP = 50;
const STRIP = 20;
const LINES = 9;
const WRITERS = ""; // what the document calls the posts' own emoji: no system has that name

function emojiTab(runs) {
  const run = chosenRun(runs);
  if (!run) return emptyTab("Emoji", "Nothing here yet: a run that recommends emoji fills this tab.");
  const names = emojiUsers(run);
  const current = names.includes(state.system)
    ? state.system
    : names.find((n) => n !== WRITERS && !isBaseline(run, n)) || names[0];
  if (!names.length) return emptyTab("Emoji", "No emoji were used in this run.");
  return [
    el("h2", {}, "Emoji"),
    el("div", { class: "controls" }, runPicker(runs, run)),
    el("h3", {}, "What each likes most"),
    stripTable(run, names),
    el("h3", {}, "How concentrated the choice is"),
    concentrationChart(run, names),
    el("h3", {}, `The ${TOP} that one uses most`),
    el(
      "div",
      { class: "controls" },
      choice(
        "system",
        "System",
        names.map((name) => [name, userName(name)]),
        current,
        (system) => choose({ system }),
      ),
      downloadButtons(() => ({
        name: `${run.name}-emoji-${userName(current)}`,
        about: { run: run.name, signature: run.signature ?? null, system: userName(current) },
        rows: topRows(run, current).map(savedEmoji),
      })),
    ),
    topChart(run, current),
    topTable(run, current),
  ];
}

function emojiUsers(run) {
  const own = run.systems
    .map((s) => s.name)
    .filter((name) => run.curves?.[name]?.length && name !== "baseline/original");
  own.sort((a, b) => isBaseline(run, a) - isBaseline(run, b));
  return [...(run.curves?.[WRITERS]?.length ? [WRITERS] : []), ...own];
}

function isBaseline(run, name) {
  return Boolean(run.systems.find((s) => s.name === name)?.baseline);
}

function userName(name) {
  return name === WRITERS ? "the posts' writers" : flat(name);
}

/** One row a system: how many different emoji, and the first of them, the commonest at the left. */
function stripTable(run, names) {
  const rows = names.map((name) => ({
    name,
    distinct: run.distinct?.[name] ?? null,
    entropy: entropyIn(run, name),
    top: run.curves[name].slice(0, STRIP),
  }));
  return dataTable({
    caption: "Emoji used: how many different ones, and the commonest from left to right",
    name: "strips",
    hideCaption: true,
    columns: [
      {
        key: "name",
        label: "used by",
        text: true,
        get: (r) => userName(r.name),
        cell: (r) => [
          r.name === WRITERS ? "the posts' writers" : breakable(r.name),
          isBaseline(run, r.name) ? el("span", { class: "mark" }, "baseline") : null,
        ],
      },
      { key: "distinct", label: "different emoji", unit: "count", optional: true, get: (r) => r.distinct },
      {
        key: "entropy",
        label: "entropy, bits",
        unit: "score",
        optional: true,
        get: (r) => r.entropy,
        title: "0: always the same emoji",
      },
      {
        key: "top",
        label: "most used",
        text: true,
        get: () => "",
        cell: (r) => el("span", { class: "strip" }, glyphs(r.top.map(([emoji]) => emoji))),
      },
    ],
    groups: [{ rows }],
  });
}

function entropyIn(run, name) {
  const known = run.entropy_bits;
  if (known && Object.hasOwn(known, name)) return known[name];
  const ofOriginals = known?.["baseline/original"] ?? {
    value: null,
    reason: "known where baseline/original is among the systems",
  };
  return name === WRITERS ? ofOriginals : null;
}

/** Percent of all emoji that the commonest k make up, one line a system. */
function concentrationChart(run, all) {
  const names = all.slice(0, LINES); // more lines than colours could not be told apart; the table holds all
  const values = names.flatMap((name) => {
    let sum = 0;
    return run.curves[name].map(([, percent], k) => ({ user: name, rank: k + 1, percent: (sum += percent) }));
  });
  const last = (name) => values.filter((v) => v.user === name).at(-1);
  const label = `Share of all emoji that the commonest make up. ${names.map((n) => `${userName(n)}: the ${last(n).rank} commonest are ${formatted(last(n).percent)} percent`).join("; ")}.`;
  const order = chartNames(names.map(userName));
  const colours = (theme) =>
    names.map((name, k) =>
      name === WRITERS ? theme.people : theme.series[(k - (names[0] === WRITERS ? 1 : 0) + 8) % 8],
    );
  return chart({
    label,
    caption: `The higher a line at the left, the more one leans on few favourites; dashed: baselines.${all.length > LINES ? ` The first ${LINES} of ${all.length}.` : ""}`,
    specify: (theme, width) => ({
      width: Math.max(width - 60, 150),
      height: Math.min(260, Math.max(180, width / 3)),
      autosize: { type: "fit-x", contains: "padding" },
      data: {
        values: values.map((v) => ({ ...v, name: order[names.indexOf(v.user)], dashed: isBaseline(run, v.user) })),
      },
      mark: { type: "line", strokeWidth: 2 },
      encoding: {
        x: {
          field: "rank",
          type: "quantitative",
          title: "number of emoji, the commonest first",
          scale: { domain: [1, TOP], nice: false },
        },
        y: { field: "percent", type: "quantitative", title: "percent of all emoji", scale: { domain: [0, 100] } },
        color: {
          field: "name",
          type: "nominal",
          scale: { domain: order, range: colours(theme) },
          legend: { title: null, orient: "bottom", columns: width < 600 ? 1 : 3, symbolStrokeWidth: 3 },
        },
        strokeDash: {
          field: "dashed",
          type: "nominal",
          scale: {
            domain: [false, true],
            range: [
              [1, 0],
              [5, 4],
            ],
          },
          legend: null,
        },
        detail: { field: "name" },
      },
    }),
  });
}

/** Rows of the chosen system's commonest emoji, with how common each is among the posts' writers and people at large. */
function topRows(run, name) {
  const people = new Map(run.curves[WRITERS] || []);
  return run.curves[name].slice(0, TOP).map(([emoji, percent], k) => ({
    rank: k + 1,
    emoji,
    percent,
    people: people.get(emoji) ?? null,
    use: emojiTable.use[emoji] ?? null,
  }));
}

function savedEmoji(row) {
  return {
    rank: row.rank,
    emoji: emojiTable.strings[row.emoji],
    name: emojiTable.names[row.emoji] ?? null,
    percent: row.percent,
    percent_of_writers: row.people,
    place_by_use: row.use,
  };
}

function topChart(run, name) {
  const rows = topRows(run, name);
  const label = `The ${rows.length} emoji that ${userName(name)} uses most, in percent of all its emoji; the table below holds the numbers.`;
  return chart({
    label,
    caption:
      name === WRITERS
        ? null
        : "Bars: percent of this system's emoji. Ticks: percent of the same emoji among the posts' writers, where it is among their 50 commonest.",
    specify: (theme, width) => {
      const fitting = rows.slice(0, Math.max(10, Math.floor((width - 60) / 22)));
      const order = fitting.map((row) => emojiTable.strings[row.emoji]);
      const x = {
        field: "emoji",
        type: "nominal",
        sort: order,
        title: null,
        axis: {
          labelFont: theme.emojiFont,
          labelFontSize: 16,
          labelAngle: 0,
          ticks: false,
          domain: true,
          labelOverlap: false,
          labelPadding: 6,
        },
      };
      const y = (field) => ({ field, type: "quantitative", title: "percent", axis: { tickCount: 5 } });
      return {
        width: { step: Math.min(26, Math.floor((width - 60) / fitting.length)) },
        height: 170,
        data: {
          values: fitting.map((row) => ({
            emoji: emojiTable.strings[row.emoji],
            percent: row.percent,
            people: row.people,
          })),
        },
        layer: [
          {
            mark: { type: "bar", color: name === WRITERS ? theme.people : theme.accent, cornerRadiusEnd: 2 },
            encoding: { x, y: y("percent") },
          },
          ...(name === WRITERS
            ? []
            : [
                {
                  transform: [{ filter: "datum.people !== null" }],
                  mark: { type: "tick", color: theme.people, thickness: 3 },
                  encoding: { x, y: y("people") },
                },
              ]),
        ],
      };
    },
  });
}

function topTable(run, name) {
  return el(
    "details",
    { class: "more" },
    el("summary", {}, "The same as a table"),
    dataTable({
      caption: `The emoji that ${userName(name)} uses most`,
      name: "top-emoji",
      columns: [
        {
          key: "emoji",
          label: "emoji",
          text: true,
          get: (r) => emojiTable.strings[r.emoji],
          cell: (r) => [glyph(emojiTable.strings[r.emoji]), " ", emojiTable.names[r.emoji] || ""],
        },
        { key: "rank", label: "rank", unit: "count", get: (r) => r.rank },
        { key: "percent", label: "percent", unit: "score", get: (r) => r.percent },
        {
          key: "people",
          label: "posts' writers, percent",
          unit: "score",
          optional: true,
          get: (r) => r.people ?? { value: null, reason: "not among the writers' 50 commonest" },
        },
        {
          key: "use",
          label: "place by use at large",
          unit: "count",
          optional: true,
          get: (r) => r.use ?? { value: null, reason: "Unicode's table of use does not rank it" },
        },
      ],
      groups: [{ rows: topRows(run, name) }],
    }),
  );
}
