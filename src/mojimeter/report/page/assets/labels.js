// Labels of posts: stored as one character a post, an index into the labels of the task; read and shown here.

/** The label that a judge gave a system's (or "gold": the original's) version of a post; null: none, "?": not read. */
function labelOf(run, judge, system, task, index) {
  const letter = run.items.labels?.[judge]?.[system]?.[task]?.[index];
  if (letter === undefined || letter === ".") return null;
  if (letter === "?") return "?";
  return run.tasks[task].labels[parseInt(letter, 36)] ?? "?";
}

function judgesOf(run) {
  return Object.keys(run.items.labels || {});
}

/** Tasks that any judge labelled, in the house's order. */
function labelledTasks(run) {
  const known = new Set(
    judgesOf(run).flatMap((judge) => Object.values(run.items.labels[judge]).flatMap((byTask) => Object.keys(byTask))),
  );
  return [...TASKS.filter((task) => known.has(task)), ...[...known].filter((task) => !TASKS.includes(task))];
}

/** What every judge says of a post as a system left it; a label other than the original's is marked by shape and word. */
function labelCell(run, system, task, index) {
  const judges = judgesOf(run);
  return judges.map((judge, k) => {
    const label = labelOf(run, judge, system, task, index);
    const gold = labelOf(run, judge, "gold", task, index);
    const isChanged =
      system !== "gold" && label !== null && label !== "?" && gold !== null && gold !== "?" && label !== gold;
    return el(
      "span",
      { class: "label" },
      judges.length > 1 ? el("span", { class: "judge", title: flat(judge) }, `J${k + 1}`) : null,
      labelWord(label, run.tasks[task]?.off_list),
      label === null ? null : votesOf(run, judge, system, index, task),
      isChanged ? el("span", { class: "changed" }, el("span", { "aria-hidden": "true" }, "\u25c6 "), "changed") : null,
    );
  });
}

function labelWord(label, offList = []) {
  if (label === null) return el("span", { class: "soft" }, "no label");
  if (label === "?") return el("span", { class: "warn" }, "? not read");
  return [
    el("span", {}, words(label)),
    offList?.includes(label) ? el("span", { class: "warn" }, " (off the list)") : null,
  ];
}

/** The votes behind a label of a judge that votes; where they are not kept apart they were all for it. */
function votesOf(run, judge, system, index, task) {
  const ballots = run.items.votes?.[judge];
  if (!ballots) return null;
  const split = ballots.split?.[system]?.[index];
  if (split) return votesText(split, task);
  return ballots.unanimous
    ? el("span", { class: "ci" }, ` (${ballots.unanimous} of ${ballots.unanimous} votes)`)
    : null;
}

/** The votes behind a label: "2 joy, 1 anger", "not read" among them, and whether they were tied. */
function votesText(ballot, task) {
  const cast = ballot?.cast?.[task];
  if (!Array.isArray(cast)) {
    if (ballot.ties?.includes(task)) return el("span", { class: "ci" }, " (tied votes)");
    return ballot.votes ? el("span", { class: "ci" }, ` (of ${plural(ballot.votes, "vote")})`) : null;
  }
  const counts = new Map();
  for (const vote of cast) counts.set(vote ?? "not read", (counts.get(vote ?? "not read") || 0) + 1);
  const told = [...counts]
    .sort((a, b) => b[1] - a[1])
    .map(([label, n]) => `${n} ${label}`)
    .join(", ");
  return el("span", { class: "ci" }, ` (votes: `, words(told), ballot.ties?.includes(task) ? ", tied" : "", ")");
}
