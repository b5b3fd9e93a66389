// The controls above a table or list: choices, switches, and the picker of a run.

/** A labelled choice. options: [[value, label]]; a value that is not among them counts as the first. */
function choice(name, label, options, current, onChange) {
  if (options.length < 2) return null;
  const id = `choice-${name}`;
  const known = options.some(([value]) => value === current) ? current : options[0][0];
  const select = el(
    "select",
    { id, data: { key: id }, on: { change: (event) => onChange(event.target.value) } },
    options.map(([value, text]) => el("option", { value, selected: value === known }, text)),
  );
  return el("div", { class: "field" }, el("label", { for: id }, label), select);
}

/** A button that is on or off. */
function toggle(name, label, on, onChange, title = null) {
  return el(
    "button",
    {
      type: "button",
      class: "toggle",
      "aria-pressed": String(on),
      title,
      data: { key: `toggle-${name}` },
      on: { click: () => onChange(!on) },
    },
    label,
  );
}

/** Which run a tab shows, where there are several that it can show. */
function runPicker(runs, current) {
  return choice(
    "run",
    "Run",
    runs.map((run) => [run.id, flat(run.name)]),
    current.id,
    (run) => choose({ run, item: "", open: "", sort: "", system: null, columns: "" }),
  );
}

/** The run that a tab shows: the chosen one, or the first that it can. */
function chosenRun(runs) {
  return runs.find((run) => run.id === state.run) || runs[0] || null;
}

/** A sentence that stands where a tab has nothing to show. */
function emptyTab(title, sentence) {
  return [el("h2", {}, title), el("p", { class: "empty" }, sentence)];
}

/** Sentences as a list; nothing where there are none. */
function sentences(lines, name = "notes") {
  const said = lines.filter(Boolean);
  return said.length
    ? el(
        "ul",
        { class: name },
        said.map((line) => el("li", {}, typeof line === "string" ? marked(sentenceCase(line)) : line)),
      )
    : null;
}

/** Names that sentences may open with: a capital would change them. */
const knownNames = new Set();

function learnNames(runs) {
  for (const run of runs) {
    knownNames.add(run.name);
    for (const system of run.systems || []) knownNames.add(system.name).add(system.base);
    for (const { judge } of run.judges || []) knownNames.add(judge);
    for (const judge of run.document?.panel?.judges || []) knownNames.add(judge);
    for (const row of run.study?.ranking || []) knownNames.add(row.system);
    for (const row of run.study?.raters || []) knownNames.add(row.rater);
  }
}

/** A text with a capital and a full stop; one that opens with a name keeps it as it is. */
function sentenceCase(text) {
  const said = String(text ?? "");
  if (!said) return said;
  const ended = /[.!?]$/.test(said) ? said : `${said}.`;
  const isNamed = (name) => name && ended.startsWith(name) && !/^[\p{L}\p{N}_]/u.test(ended.slice(name.length));
  return [...knownNames].some(isNamed) ? ended : ended[0].toUpperCase() + ended.slice(1);
}

/** A number in large type with what it is. */
function fact(label, value, note = null) {
  return el(
    "div",
    { class: "fact" },
    el("dt", {}, label),
    el("dd", {}, value, note ? el("span", { class: "ci" }, note) : null),
  );
}
