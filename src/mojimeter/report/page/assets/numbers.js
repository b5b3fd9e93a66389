// How numbers are written. The document's numbers are never rounded; only what is shown is.

const UNITS = {
  percent: { scale: 1, digits: 1 }, // already in percent
  share: { scale: 100, digits: 1 }, // 0..1, shown in percent
  score: { scale: 1, digits: 2 },
  fine: { scale: 1, digits: 3 },
  count: { scale: 1, digits: 0 },
};

/** Whether a value is an estimate: a number that can have an interval, or the reason why there is none. */
function isEstimate(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value) && "value" in value;
}

/** The number of an estimate or a plain number; null where there is none. */
function numberOf(value) {
  const number = isEstimate(value) ? value.value : value;
  return typeof number === "number" && Number.isFinite(number) ? number : null;
}

function intervalOf(value) {
  return isEstimate(value) && Array.isArray(value.ci) ? value.ci : null;
}

/** Why an estimate has no number. */
function reasonOf(value) {
  if (value === null || value === undefined) return "not recorded";
  return flat(value.reason || (value.state ? `${value.state}` : "not recorded"));
}

/** A number as people read it: a true minus sign, thousands apart, no minus zero. */
function formatted(number, unit = "percent") {
  const { scale, digits } = UNITS[unit];
  const rounded = Number((number * scale).toFixed(digits)) + 0;
  const text = Math.abs(rounded).toLocaleString("en-US", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return (rounded < 0 ? "\u2212" : "") + text;
}

function signed(number, unit = "percent") {
  const text = formatted(number, unit);
  return number > 0 && !/^[0.,]+$/.test(text) ? `+${text}` : text;
}

/** "[52.9, 58.5]"; an open end is "no limit". */
function formattedInterval(ci, unit = "percent") {
  return `[${ci.map((bound) => (bound === null ? "no limit" : formatted(bound, unit))).join(", ")}]`;
}

/** "55.7 [52.9, 58.5]" in one line, for sentences and labels. */
function sentenceNumber(value, unit = "percent", sign = false) {
  const number = numberOf(value);
  if (number === null) return isEstimate(value) && value.state ? flat(value.state) : "not known";
  const ci = intervalOf(value);
  return (sign ? signed : formatted)(number, unit) + (ci ? ` ${formattedInterval(ci, unit)}` : "");
}

/** A number with its interval in lighter text under it. */
function numberCell(value, unit = "percent", { sign = false } = {}) {
  const number = numberOf(value);
  const ci = intervalOf(value);
  if (number === null && !(isEstimate(value) && value.state)) return null;
  const shown = number === null ? flat(value.state) : (sign ? signed : formatted)(number, unit);
  return [el("span", { class: "value" }, shown), ci ? el("span", { class: "ci" }, formattedInterval(ci, unit)) : null];
}

/** A probability; never written as nought. */
function probability(p) {
  if (typeof p !== "number") return null;
  return p < 0.001 ? "< .001" : p.toFixed(3).replace(/^0/, "");
}

function plural(count, noun, many = `${noun}s`) {
  return `${count.toLocaleString("en-US")} ${count === 1 ? noun : many}`;
}

/** Names joined as a sentence joins them. */
function listed(names) {
  if (names.length < 2) return names.join("");
  return `${names.slice(0, -1).join(", ")} and ${names[names.length - 1]}`;
}

/** "1", or "1\u20133, tie" where the data leave several places open. */
function placeText(rank) {
  if (!rank) return null;
  return rank[0] === rank[1] ? String(rank[0]) : `${rank[0]}\u2013${rank[1]}, tie`;
}

/** The places that the data leave open, drawn as a bar over all places. */
function placeCell(rank, places) {
  if (!rank) return null;
  const width = 56;
  const step = width / places;
  const bar = svg(
    "svg",
    { class: "places", viewBox: `0 0 ${width} 8`, width, height: 8, "aria-hidden": "true", focusable: "false" },
    svg("rect", { class: "track", x: 0, y: 3, width, height: 2 }),
    svg("rect", {
      class: "range",
      x: (rank[0] - 1) * step,
      y: 0,
      width: Math.max((rank[1] - rank[0] + 1) * step, 2),
      height: 8,
      rx: 2,
    }),
  );
  return [el("span", { class: "value" }, placeText(rank)), bar];
}
