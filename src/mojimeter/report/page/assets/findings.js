// Any document as tables: what is known of a judge command's output gets its proper name, what is not is shown under
// the name that it has, so that nothing is left out.

const FINDING_NAMES = {
  f1_macro: "F1, macro",
  kappa: "Cohen's kappa",
  alpha_nominal: "alpha (nominal)",
  commonest: "commonest label alone",
  correlation: "correlation of labels",
  changed: "labels that change, percent",
  ceiling: "noise ceiling, percent",
  changes: "labels that change on asking again, percent",
  moved_ceiling: "ceiling with emoji moved",
  unparsed: "not read",
  per_class: "by class",
  by_matching_pairs: "by labels that stayed",
  human_score: "people say 'same', share",
  task_score: "labels that stayed, share",
  of_groups: "over groups",
};
const UNSHOWN = new Set(["schema", "signature"]); // shown elsewhere

function findingName(key) {
  return FINDING_NAMES[key] || flat(key).replaceAll("_", " ");
}

/** A nest of objects as headings and tables; title: the names that lead to it; level: of the headings in it. */
function findings(value, title, level = 4) {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object" || isEstimate(value)) return el("p", {}, `${lastName(title)}: `, findingCell(value));
  if (Array.isArray(value)) return listFinding(value, title);
  const entries = Object.entries(value).filter(([key]) => !UNSHOWN.has(key));
  if (!entries.length) return el("p", { class: "soft" }, "none");
  const simple = entries.filter(([, part]) => isLeaf(part));
  const nested = entries.filter(([, part]) => !isLeaf(part));
  return [
    simple.length ? factTable(simple, title) : null,
    nested.length > 1 && areAlike(nested) ? alikeFindings(nested, title, level) : apartFindings(nested, title, level),
  ];
}

/** Objects of one kind (tasks, judges, classes): their numbers as one table, what is deeper folded away. */
function alikeFindings(nested, title, level) {
  const deeper = nested.flatMap(([name, part]) =>
    Object.entries(part)
      .filter(([, inner]) => !isLeaf(inner))
      .map(([key, inner]) => [name, key, inner]),
  );
  return [
    crossTable(nested, title),
    deeper.map(([name, key, inner]) =>
      el(
        "details",
        { class: "more" },
        el("summary", {}, `${findingName(name)}: ${findingName(key)}`),
        findings(inner, `${title}: ${findingName(name)}: ${findingName(key)}`, level),
      ),
    ),
  ];
}

function apartFindings(nested, title, level) {
  if (!nested.length) return null;
  return el(
    "div",
    { class: "findings" },
    nested.map(([key, part]) =>
      el(
        "section",
        { class: "finding" },
        heading(level, findingName(key)),
        findings(part, `${title}: ${findingName(key)}`, level + 1),
      ),
    ),
  );
}

function lastName(title) {
  return title.split(": ").pop();
}

function heading(level, text) {
  return level <= 6 ? el(`h${level}`, {}, text) : el("p", { class: "subhead" }, text);
}

const isPrimitive = (value) => value === null || typeof value !== "object";

/** What fits a cell: a number, a word, an estimate, a list of words, or a pair or two of names and numbers. */
function isLeaf(value) {
  if (isPrimitive(value) || isEstimate(value)) return true;
  if (Array.isArray(value)) return value.every(isPrimitive);
  return Object.keys(value).length > 0 && Object.keys(value).length <= 2 && Object.values(value).every(isPrimitive);
}

/** Whether objects are of one kind: each has a number or a word, and some of them by the same names. */
function areAlike(nested) {
  const names = nested.map(([, part]) =>
    Array.isArray(part) ? [] : Object.keys(part).filter((key) => isLeaf(part[key])),
  );
  return names.every((own) => own.length) && names.slice(1).every((own) => own.some((key) => names[0].includes(key)));
}

function factTable(entries, title) {
  return dataTable({
    caption: title,
    name: `facts-${title}`,
    hideCaption: true,
    columns: [
      { key: "what", label: "what", text: true, get: ([key]) => findingName(key) },
      { key: "value", label: "value", text: true, get: () => "", cell: ([, value]) => findingCell(value) },
    ],
    groups: [{ rows: entries }],
  });
}

function crossTable(entries, title) {
  const keys = [...new Set(entries.flatMap(([, part]) => Object.keys(part).filter((key) => isLeaf(part[key]))))];
  return dataTable({
    caption: title,
    name: `cross-${title}`,
    hideCaption: true,
    columns: [
      { key: "name", label: lastName(title), text: true, get: ([name]) => findingName(name) },
      ...keys.map((key) => ({
        key,
        label: findingName(key),
        get: () => "",
        cell: ([, part]) =>
          Object.hasOwn(part, key) && isLeaf(part[key]) ? findingCell(part[key]) : el("span", { class: "soft" }, "-"),
      })),
    ],
    groups: [{ rows: entries }],
  });
}

function listFinding(list, title) {
  if (!list.length) return el("p", { class: "soft" }, `${lastName(title)}: none`);
  if (list.every(isPrimitive))
    return el("p", {}, `${lastName(title)}: `, words(list.join(", ")));
  if (!list.every((part) => part && !Array.isArray(part) && Object.values(part).every(isLeaf)))
    return list.map((part, k) => findings(part, `${title} ${k + 1}`, 7));
  const keys = [...new Set(list.flatMap((part) => Object.keys(part)))];
  return dataTable({
    caption: title,
    name: `list-${title}`,
    hideCaption: true,
    columns: keys.map((key, k) => ({
      key,
      label: findingName(key),
      text: k === 0,
      get: () => "",
      cell: (part) => (Object.hasOwn(part, key) ? findingCell(part[key]) : el("span", { class: "soft" }, "-")),
    })),
    groups: [{ rows: list }],
  });
}

function findingCell(value) {
  if (value === null || value === undefined) return el("span", { class: "soft" }, "none");
  if (isEstimate(value)) {
    const cell = numberCell(value, "fine");
    return cell || el("span", { class: "unknown" }, `not known: ${reasonOf(value)}`);
  }
  if (Array.isArray(value))
    return value.length
      ? marked(value.map((part) => (typeof part === "number" ? plainNumber(part) : String(part))).join(", "))
      : el("span", { class: "soft" }, "none");
  if (typeof value === "object") return marked(pairText(value));
  if (typeof value === "number") return el("span", { class: "value" }, plainNumber(value));
  if (typeof value === "boolean") return value ? "yes" : "no";
  return marked(value);
}

/** A pair or two of names and numbers in a line: "23 of 28" where the second is what the first is part of. */
function pairText(value) {
  const shown = (part) => (typeof part === "number" ? plainNumber(part) : String(part));
  const pairs = Object.entries(value);
  if (pairs.length === 2 && "agreed" in value && "answers" in value)
    return `${shown(value.agreed)} of ${shown(value.answers)}`;
  return pairs.map(([name, part]) => `${findingName(name)} ${shown(part)}`).join(", ");
}

function plainNumber(value) {
  return Number.isInteger(value) ? formatted(value, "count") : formatted(value, "fine");
}
