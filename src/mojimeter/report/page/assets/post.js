// One post of a recommendation run: the original, what every system chose, every judge's labels, people's ratings.

const FLAG_WORDS = {
  no_emoji: "no emoji",
  extra_text: "words beside the emoji",
  wrong_count: "not as many emoji as asked for",
  repeated: "the same emoji twice",
  damaged: "half an emoji or undecodable characters",
};

function postDetail(run, index) {
  const { items } = run;
  const tasks = labelledTasks(run);
  const judges = judgesOf(run);
  const isKnownLabelled = tasks.some((task) => items.known?.[task]?.[index]);
  const rows = [
    ...(isKnownLabelled ? [{ name: KNOWN, meta: {} }] : []),
    { name: "gold", meta: {} },
    ...run.systems.map((meta) => ({ name: meta.name, meta })),
  ];
  const people = rows.some((row) => peopleOf(run, row.name, index).length);
  const columns = [
    { key: "system", label: "system", text: true, get: (r) => r.name, cell: (r) => rowName(r.name) },
    {
      key: "emoji",
      label: "emoji",
      text: true,
      get: () => "",
      cell: (r) => (r.name === KNOWN ? el("span", { class: "soft" }, "") : emojiCell(run, r.name, index)),
    },
    ...tasks.map((task) => ({
      key: task,
      label: task,
      text: true,
      get: () => "",
      cell: (r) => (r.name === KNOWN ? knownCell(run, task, index) : labelCell(run, r.name, task, index)),
    })),
    ...(people
      ? [
          {
            key: "people",
            label: "people's ratings",
            text: true,
            get: () => "",
            cell: (r) => ratingsCell(run, r.name, index),
          },
        ]
      : []),
    {
      key: "reply",
      label: "reply and failures",
      text: true,
      optional: true,
      get: (r) => (hasReply(run, r.name, index) ? "yes" : null),
      cell: (r) => replyCell(run, r.name, index),
    },
  ];
  return [
    originalBlock(run, index),
    el(
      "dl",
      { class: "facts" },
      shareFact(
        items.disagreement_of === "emoji" ? "systems disagree on emoji" : "systems disagree",
        items.disagreement?.[index],
      ),
      shareFact("emoji mattered", items.mattered?.[index]),
      items.lang?.[index] ? fact("language", languageName(items.lang[index])) : null,
    ),
    dataTable({
      caption: "What every system chose, and the labels",
      name: "post",
      hideCaption: true,
      columns,
      groups: [
        { rows: rows.filter((r) => !r.meta.baseline) },
        { rows: rows.filter((r) => r.meta.baseline), label: "Baselines, for comparison", name: "baselines" },
      ],
    }),
    judges.length > 1
      ? el(
          "p",
          { class: "explain" },
          judges.map((judge, k) => [k ? "; " : "", `J${k + 1}: `, named(judge)]),
          ".",
        )
      : null,
    judges.length === 1
      ? el("p", { class: "explain" }, "Labels by ", named(judges[0]), "; changed: another label than the original got.")
      : null,
    tasks.includes("age") || tasks.includes("gender") ? el("p", { class: "perceived" }, PERCEIVED) : null,
  ];
}

const KNOWN = "known"; // the row of labels that came with the posts

function rowName(name) {
  if (name === KNOWN) return "labels that came with the post";
  return name === "gold" ? "the original" : breakable(name);
}

/** A label that came with the post, with the votes behind it. */
function knownCell(run, task, index) {
  const label = run.items.known?.[task]?.[index];
  const votes = run.items.known_votes?.[task]?.[index];
  if (!label) return el("span", { class: "soft" }, "not known");
  return el("span", { class: "label" }, words(label), votes ? votesText({ cast: { [task]: votes } }, task) : null);
}

function originalBlock(run, index) {
  const { items } = run;
  const isLeaked = (items.leaked || []).includes(index);
  const text = items.text?.[index];
  return [
    text === undefined || text === null
      ? el("p", { class: "empty" }, "The text of this post is not in this file.")
      : quoted(text, items.lang?.[index], "blockquote", "original"),
    isLeaked ? el("p", { class: "alert" }, "The plain text still held emoji when systems saw it.") : null,
  ];
}

function shareFact(label, value) {
  return typeof value === "number" ? fact(label, `${formatted(value, "share")}%`) : null;
}

function emojiCell(run, name, index) {
  const chosen = name === "gold" ? run.items.gold[index] : run.items.systems[name]?.emoji?.[index];
  if (chosen === null || chosen === undefined)
    return el(
      "span",
      { class: "soft" },
      name === "gold" ? "none" : run.items.systems[name]?.error?.[index] ? "failed" : "no reply recorded",
    );
  const others = run.items.systems[name]?.other_attempts?.[index] || [];
  return [
    chosen.length ? el("span", { class: "glyphs" }, glyphs(chosen)) : el("span", { class: "soft" }, "none"),
    others.map((attempt, k) =>
      el(
        "span",
        { class: "label" },
        el("span", { class: "judge" }, `attempt ${k + 2}`),
        el("span", { class: "glyphs" }, glyphs(attempt)),
      ),
    ),
  ];
}

function hasReply(run, name, index) {
  const own = run.items.systems[name];
  return Boolean(own && (own.reply?.[index] !== undefined || own.flags?.[index] || own.error?.[index]));
}

function replyCell(run, name, index) {
  const own = run.items.systems[name] || {};
  const flags = own.flags?.[index] || [];
  return [
    own.error?.[index] ? el("p", { class: "warn" }, "failed: ", words(own.error[index])) : null,
    flags.length ? el("p", { class: "warn" }, flags.map((flag) => FLAG_WORDS[flag] || flat(flag)).join("; ")) : null,
    own.reply?.[index] !== undefined ? quoted(own.reply[index], run.items.lang?.[index], "q", "reply") : null,
  ];
}

function peopleOf(run, name, index) {
  return run.items.people?.[name]?.[index] || [];
}

function ratingsCell(run, name, index) {
  const ratings = peopleOf(run, name, index);
  if (!ratings.length) return el("span", { class: "soft" }, "none");
  return ratings.map(([rater, score]) =>
    el("span", { class: "label" }, named(rater), " ", el("span", { class: "value" }, String(score))),
  );
}
