// Tables: heads that sort, groups of rows, notes on numbers that are not known. Wide tables scroll inside their own
// region, never the page.

/**
 * A table.
 * columns: [{key, label, title?, unit?, get(row), cell?(row), text?}]; the first names the row.
 * groups: [{label?, rows, name?}]; rows are objects. `sort`: {key, down}; onSort(key, down) makes the heads buttons.
 * detail(row): a node shown under the row, or null. label: of the region; no two on a page should be the same.
 */
function dataTable({
  caption,
  columns,
  groups,
  sort = null,
  onSort = null,
  detail = null,
  name = caption,
  label = caption,
  hideCaption = false,
}) {
  const reasons = new Map();
  const shown = columns.filter(
    (column) => !column.optional || groups.some((g) => g.rows.some((row) => isKnown(column.get(row)))),
  );
  const head = el(
    "tr",
    {},
    shown.map((column) => headCell(column, sort, onSort)),
  );
  const bodies = groups
    .filter((group) => group.rows.length)
    .map((group) =>
      el(
        "tbody",
        { class: group.name },
        group.label
          ? el(
              "tr",
              { class: "group" },
              el("th", { scope: "rowgroup", colspan: shown.length }, el("span", {}, group.label)),
            )
          : null,
        group.rows.map((row) => [
          el(
            "tr",
            {},
            shown.map((column, k) => bodyCell(column, row, k === 0, reasons)),
          ),
          detailRow(detail?.(row), shown.length),
        ]),
      ),
    );
  const table = el(
    "table",
    { "aria-label": hideCaption ? caption : null },
    hideCaption ? null : el("caption", {}, caption),
    el("thead", {}, head),
    bodies,
  );
  return el(
    "div",
    { class: "table" },
    el(
      "div",
      { class: "scroll", role: "region", "aria-label": flat(label), tabindex: "0", data: { scroll: name } },
      table,
    ),
    reasonNotes(reasons),
  );
}

/** Whether a table has something to show in a column for a row: a number, a word, or an open estimate. */
function isKnown(value) {
  if (value === null || value === undefined || value === "") return false;
  return isEstimate(value) ? numberOf(value) !== null || Boolean(value.state) : true;
}

function headCell(column, sort, onSort) {
  const sorted = sort && sort.key === column.key;
  const direction = sorted ? (sort.down ? "descending" : "ascending") : null;
  const title = column.title || null;
  const kind = column.text ? "text" : "number";
  if (!onSort) return el("th", { scope: "col", class: kind, title }, column.label);
  const flip = () => onSort(column.key, sorted ? !sort.down : !column.text && !column.up);
  return el(
    "th",
    { scope: "col", class: kind, "aria-sort": direction, title },
    el(
      "button",
      { type: "button", class: "sort", data: { key: `sort-${column.key}` }, on: { click: flip } },
      sorted ? el("span", { class: "arrow", "aria-hidden": "true" }, sort.down ? "\u2193" : "\u2191") : null,
      column.label,
    ),
  );
}

function bodyCell(column, row, isFirst, reasons) {
  const value = column.get(row);
  const content = column.cell
    ? column.cell(row)
    : typeof value === "string"
      ? words(value)
      : numberCell(value, column.unit);
  const empty = content === null || content === undefined;
  const kind = column.text ? "text" : "number";
  if (isFirst) return el("th", { scope: "row", class: kind }, content);
  return el("td", { class: kind }, empty ? unknown(reasonOf(value), reasons) : content);
}

/** "not known", with a letter that leads to the reason under the table. */
function unknown(reason, reasons) {
  if (!reasons.has(reason)) reasons.set(reason, letters(reasons.size));
  return el("span", { class: "unknown", title: reason }, "not known", el("sup", {}, reasons.get(reason)));
}

function letters(number) {
  return (number >= 26 ? letters(Math.floor(number / 26) - 1) : "") + String.fromCharCode(97 + (number % 26));
}

function reasonNotes(reasons) {
  if (!reasons.size) return null;
  return el(
    "ul",
    { class: "reasons", "aria-label": "Why some numbers are not known" },
    [...reasons].map(([reason, letter]) => el("li", {}, el("sup", {}, letter), ` ${reason}`)),
  );
}

function detailRow(content, width) {
  return content ? el("tr", { class: "detail" }, el("td", { colspan: width }, content)) : null;
}

/** Rows in the order of a column; those without a value last, whatever the direction. */
function sortedRows(rows, column, down) {
  const key = (row) => {
    const value = column.order ? column.order(row) : column.get(row);
    return typeof value === "string" ? value : numberOf(value);
  };
  const by = (a, b) => (typeof a === "string" ? a.localeCompare(b) : a - b);
  return rows
    .map((row) => [key(row), row])
    .sort(([a], [b]) => (a === null ? (b === null ? 0 : 1) : b === null ? -1 : down ? by(b, a) : by(a, b)))
    .map(([, row]) => row);
}

/** What a table holds, as rows of named values for saving. */
function savedRows(columns, rows) {
  return rows.map((row) =>
    Object.fromEntries(
      columns.filter((c) => !c.unsaved).map((c) => [c.saved || c.key, (c.value || c.get)(row) ?? null]),
    ),
  );
}
