// What is shown, as CSV or JSON. Cells that a spreadsheet would run as formulas are made text; numbers stay numbers.

function csvCell(value) {
  if (value === null || value === undefined) return "";
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  let text = String(value).replace(HALVES, "\ufffd");
  if (/^\s*[=+\-@\t\r]/.test(text)) text = `'${text}`;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Rows of named values as CSV; an estimate becomes three columns: the number and its bounds. */
function csvText(rows) {
  const flatRows = rows.map(flattened);
  const names = [...new Set(flatRows.flatMap((row) => Object.keys(row)))];
  const lines = [names, ...flatRows.map((row) => names.map((name) => row[name]))];
  return lines.map((line) => line.map(csvCell).join(",")).join("\r\n") + "\r\n";
}

function flattened(row) {
  const out = {};
  for (const [name, value] of Object.entries(row)) {
    if (isEstimate(value)) {
      out[name] = value.value ?? value.state ?? null;
      out[`${name}_low`] = value.ci?.[0] ?? null;
      out[`${name}_high`] = value.ci?.[1] ?? null;
    } else if (name === "rank" && Array.isArray(value)) {
      [out.rank_low, out.rank_high] = value;
    } else out[name] = Array.isArray(value) ? value.join(" ") : value;
  }
  return out;
}

function save(name, type, text) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  const link = el("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

/** Two buttons that save `what()` = {name, about, rows}. */
function downloadButtons(what) {
  const stem = (name) => name.replace(/[^\p{L}\p{N}._-]+/gu, "-").replace(/^[-.]+|-+$/g, "") || "report";
  const asCsv = () => {
    const { name, rows } = what();
    save(`${stem(name)}.csv`, "text/csv;charset=utf-8", csvText(rows));
  };
  const asJson = () => {
    const { name, about, rows } = what();
    save(`${stem(name)}.json`, "application/json", `${JSON.stringify({ ...about, rows }, null, 1)}\n`);
  };
  return el(
    "div",
    { class: "downloads" },
    el("button", { type: "button", "data-key": "csv", on: { click: asCsv } }, "Save as CSV"),
    el("button", { type: "button", "data-key": "json", on: { click: asJson } }, "Save as JSON"),
  );
}
