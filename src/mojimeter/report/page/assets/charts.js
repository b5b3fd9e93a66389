// Charts by Vega-Lite, drawn as SVG, without evaluating text as code. A chart follows the page's colours and width;
// the table beside it is what readers who do not see it use.

const charts = new Set();

/**
 * A chart. label: what it shows, in a sentence; specify(theme, width): a Vega-Lite specification, drawn anew when
 * the colours or the width change.
 */
function chart({ label, specify, caption = null }) {
  const canvas = el("div", { "aria-hidden": "true" }); // Vega names the element that it draws into after itself
  const holder = el("div", { class: "chart", role: "img", "aria-label": flat(label) }, canvas);
  const entry = { holder, canvas, specify, width: 0, view: null };
  charts.add(entry);
  new ResizeObserver(() => {
    const width = Math.floor(holder.clientWidth);
    if (width && Math.abs(width - entry.width) > 1) draw(entry);
  }).observe(holder);
  return el("figure", {}, holder, caption ? el("figcaption", {}, caption) : null);
}

async function draw(entry) {
  forgetCharts();
  entry.width = Math.floor(entry.holder.clientWidth);
  try {
    await loadLibraries();
    drawNow(entry);
  } catch (error) {
    entry.holder.replaceChildren(
      el("p", { class: "empty" }, `The chart could not be drawn (${error.message}); the table holds its numbers.`),
    );
  }
}

function drawNow(entry) {
  if (!entry.holder.isConnected || !entry.width) return;
  const theme = chartTheme();
  const specification = { ...entry.specify(theme, entry.width), config: chartConfig(theme), background: null };
  const compiled = vegaLite.compile(specification, { logger: vega.logger(vega.Error) }).spec;
  entry.view?.finalize();
  entry.view = new vega.View(vega.parse(compiled, null, { ast: true }), {
    expr: vegaInterpreter.expressionInterpreter,
    renderer: "svg",
    logLevel: vega.Error,
    hover: false,
    tooltip: () => {},
  });
  entry.view.initialize(entry.canvas).run();
}

/** After a change of colours: every chart that is still on the page, drawn anew. */
function redrawCharts() {
  for (const entry of charts) if (entry.width) draw(entry);
}

/** Charts whose place on the page has been given to something else. */
function forgetCharts() {
  for (const entry of charts) {
    if (entry.holder.isConnected || !entry.width) continue;
    entry.view?.finalize();
    charts.delete(entry);
  }
}

/** Names as a chart can hold them: each different, and none that objects have of themselves, which Vega takes for it. */
function chartNames(names) {
  const taken = new Set();
  return names.map((name) => {
    let shown = flat(name);
    while (shown in Object.prototype || taken.has(shown)) shown += "\u2060"; // a word joiner: no width
    taken.add(shown);
    return shown;
  });
}

/** The page's colours, as its style sheet has them now. */
function chartTheme() {
  const style = getComputedStyle(document.documentElement);
  const colour = (name) => style.getPropertyValue(`--${name}`).trim();
  return {
    ink: colour("ink"),
    soft: colour("soft"),
    line: colour("line"),
    accent: colour("accent"),
    band: colour("band"),
    base: colour("base"),
    people: colour("people"),
    paper: colour("paper"),
    series: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => colour(`series-${n}`)),
    font: style.getPropertyValue("--text-font").trim(),
    emojiFont: `${style.getPropertyValue("--emoji-font").trim()},sans-serif`,
  };
}

function chartConfig(theme) {
  const text = {
    labelColor: theme.ink,
    titleColor: theme.soft,
    labelFont: theme.font,
    titleFont: theme.font,
    labelFontSize: 12,
    titleFontSize: 12,
    titleFontWeight: "normal",
  };
  return {
    font: theme.font,
    aria: false, // the holder carries the label
    view: { stroke: null },
    axis: { ...text, gridColor: theme.line, domainColor: theme.line, tickColor: theme.line, labelLimit: 260 },
    legend: { ...text, labelLimit: 220 },
    text: { color: theme.ink, font: theme.font, fontSize: 12 },
    title: { color: theme.ink, font: theme.font, fontSize: 13, fontWeight: "normal", anchor: "start" },
  };
}
