// Charts by Vega-Lite, drawn as SVG, without evaluating text as code. A chart follows the page's colours and width;
// the table beside it is what readers who do not see it use.

const charts = new Set();
const PAPER_WIDTH = 680; // CSS pixels between the margins of A4 and of letter

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
    // in the next frame: a chart that grows while sizes are told is complained of by WebKit
    if (width && Math.abs(width - entry.width) > 1) requestAnimationFrame(() => draw(entry));
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
    sayUndrawn(entry, error);
  }
}

function sayUndrawn(entry, error) {
  entry.holder.replaceChildren(
    el("p", { class: "empty" }, `The chart could not be drawn (${error.message}); the table holds its numbers.`),
  );
}

function drawNow(entry) {
  if (!entry.holder.isConnected || !entry.width) return;
  entry.view?.finalize();
  entry.view = makeView(entry, "svg");
  entry.view.initialize(entry.canvas).run();
}

function makeView(entry, renderer) {
  const theme = chartTheme();
  const specification = { ...entry.specify(theme, entry.width), config: chartConfig(theme), background: null };
  const compiled = vegaLite.compile(specification, { logger: vega.logger(vega.Error) }).spec;
  return new vega.View(vega.parse(compiled, null, { ast: true }), {
    expr: vegaInterpreter.expressionInterpreter,
    renderer,
    logLevel: vega.Error,
    hover: false,
    tooltip: () => {},
  });
}

/** After a change of colours: every chart that is still on the page, drawn anew. */
function redrawCharts() {
  for (const entry of charts) if (entry.width) draw(entry);
}

/** Every chart for paper, in light colours: at once, because browsers print what is there when they begin. */
function drawForPaper() {
  if (!window.vegaInterpreter) return;
  forgetCharts();
  const root = document.documentElement.dataset;
  const chosen = root.theme;
  root.theme = "light";
  for (const entry of charts) {
    entry.width = PAPER_WIDTH;
    try {
      drawAtOnce(entry);
    } catch (error) {
      sayUndrawn(entry, error);
    }
  }
  root.theme = chosen;
}

/** A chart without its view, which would draw a moment later. */
function drawAtOnce(entry) {
  entry.view?.finalize();
  entry.view = null;
  entry.canvas.replaceChildren();
  const scene = makeView(entry, "none").run().scenegraph().root;
  const { x1, y1, x2, y2 } = scene.bounds.expand(5); // Vega's own padding
  new vega.SVGRenderer().initialize(entry.canvas, Math.ceil(x2 - x1), Math.ceil(y2 - y1), [-x1, -y1]).render(scene);
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
