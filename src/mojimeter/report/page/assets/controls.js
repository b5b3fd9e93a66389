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
    (run) => choose({ run, item: "", open: "", sort: "", system: "", columns: "" }),
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
        said.map((line) => el("li", {}, typeof line === "string" ? marked(line) : line)),
      )
    : null;
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
