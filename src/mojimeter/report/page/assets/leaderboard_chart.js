// The leaderboard as a chart: score and interval of every system, the places that the data leave open as bars, and
// baselines as lines across, named in rows of their own underneath.

/**
 * rows: [{name, value, low, high, rank, baseline}] in the order to be drawn, baselines last; numbers as they are
 * shown (percent). places: how many there are to be had.
 */
function leaderboardChart({ rows, title, places }) {
  const drawn = rows.filter((row) => row.value !== null);
  if (!drawn.length) return null;
  const { shown, beyond } = withinScale(drawn);
  const label = `${title}, with 95% intervals. ${shown.map((row) => `${row.name}: ${formatted(row.value)}${row.rank ? `, place ${placeText(row.rank)}` : ""}`).join("; ")}.`;
  const notes = [
    "Points are scores with their 95% intervals",
    shown.some((row) => row.baseline) ? "dashed lines are the baselines named in the lower rows" : null,
    shown.some((row) => row.rank)
      ? "bars are the places that the data leave open, all pairs of systems compared at once"
      : null,
    ...beyond.map((row) => `${row.name}, at ${formatted(row.value)}, is off this scale`),
  ]
    .filter(Boolean)
    .join("; ");
  return chart({
    label,
    caption: words(`${notes}.`),
    specify: (theme, width) => leaderboardSpecification(theme, width, shown, title, places),
  });
}

/** A baseline far above all others (the original emoji score 100 by construction) would leave the rest no room. */
function withinScale(rows) {
  const others = rows.filter((row) => row.name !== "baseline/original");
  const low = Math.min(...others.map((row) => row.low ?? row.value));
  const high = Math.max(...others.map((row) => row.high ?? row.value));
  const isNear = (row) => row.value <= high + 0.35 * (high - low || 10);
  const far = others.length ? rows.filter((row) => row.name === "baseline/original" && !isNear(row)) : [];
  return { shown: rows.filter((row) => !far.includes(row)), beyond: far };
}

function leaderboardSpecification(theme, width, rows, title, places) {
  const names = chartNames(rows.map((row) => row.name));
  const values = rows.map((row, k) => ({
    name: names[k],
    value: row.value,
    low: row.low ?? row.value,
    high: row.high ?? row.value,
    baseline: row.baseline,
    first: row.rank ? row.rank[0] - 0.5 : null,
    last: row.rank ? row.rank[1] + 0.5 : null,
  }));
  const narrow = width < 560;
  const labels = Math.min(narrow ? 110 : 0.28 * width, 12 + 6.6 * Math.max(...names.map((name) => name.length)));
  const ranks = !narrow && rows.some((row) => row.rank) ? 150 : 0;
  const y = {
    field: "name",
    type: "nominal",
    sort: names,
    title: null,
    axis: { labelLimit: labels, domain: false, ticks: false, labelPadding: 8 },
  };
  const colour = { condition: { test: "datum.baseline", value: theme.base }, value: theme.accent };
  const x = (field) => ({
    field,
    type: "quantitative",
    scale: { zero: false, nice: true },
    title,
    axis: { tickCount: narrow ? 4 : 8 },
  });
  const scores = {
    width: Math.max(width - labels - ranks - (ranks ? 50 : 25), 80),
    height: { step: 26 },
    layer: [
      {
        transform: [{ filter: "datum.baseline" }],
        mark: { type: "rule", strokeDash: [3, 4], color: theme.base, opacity: 0.7 },
        encoding: { x: x("value") },
      },
      { mark: { type: "rule", strokeWidth: 2 }, encoding: { x: x("low"), x2: { field: "high" }, y, color: colour } },
      {
        mark: { type: "point", filled: true, size: 70, opacity: 1 },
        encoding: {
          x: x("value"),
          y,
          color: colour,
          shape: { condition: { test: "datum.baseline", value: "diamond" }, value: "circle" },
        },
      },
    ],
  };
  if (!ranks) return { data: { values }, ...scores };
  const bars = {
    width: ranks,
    height: { step: 26 },
    mark: { type: "bar", height: 10, cornerRadius: 3 },
    transform: [{ filter: "datum.first !== null" }],
    encoding: {
      x: {
        field: "first",
        type: "quantitative",
        title: "place",
        scale: { domain: [0.5, places + 0.5], nice: false, zero: false },
        axis: {
          values: places <= 12 ? Array.from({ length: places }, (_, k) => k + 1) : undefined,
          format: "d",
          grid: false,
        },
      },
      x2: { field: "last" },
      y: { ...y, axis: null },
      color: { condition: { test: "datum.baseline", value: theme.base }, value: theme.band },
    },
  };
  return { data: { values }, spacing: 24, hconcat: [scores, bars], resolve: { scale: { y: "shared" } } };
}
