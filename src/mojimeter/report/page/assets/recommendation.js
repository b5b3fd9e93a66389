// What a leaderboard of recommended emoji shows: its columns, sentences and details. Numbers of a part of the posts
// come from the document's slices; those that a part does not have are hidden there.

const TASKS = ["sentiment", "emotion", "stance", "age", "gender"];
const TEXT_ALONE = "baseline/none";
const PERCEIVED = "Perceived age and gender are labels, not facts about people.";
const FAILURES = {
  errors: ["errors", "calls that failed"],
  missing: ["missing", "posts without a reply"],
  unlabelled: ["no label", "texts without a label, counted as not preserved"],
};
const ODD_REPLIES = {
  no_emoji: ["no emoji", "replies without emoji"],
  extra_text: ["words", "replies with words beside the emoji"],
  wrong_count: ["wrong count", "replies with more or fewer emoji than asked for"],
  repeated: ["repeated", "replies with the same emoji twice"],
  damaged: ["damaged", "replies with half an emoji or undecodable characters"],
};

const recommendation = {
  unit: "percent",
  noun: "post",

  /** What can be ranked by: the run's own headline, then each task and criterion. */
  headlines(run) {
    const ranked = run.document.ranked_by;
    const first =
      ranked === "f1"
        ? ["f1", "overlap (F1)"]
        : [
            ranked,
            ranked === "average" ? "labels preserved, mean of tasks" : "labels preserved, without leaked tasks",
            "preserved",
          ];
    const tasks = tasksOf(run).map((task) => [task, `${task} preserved`, task]);
    const more = [
      ["kept", "kept"],
      ["recovered", "recovered"],
      ["f1", "overlap (F1)"],
    ].filter(([key]) => key !== first[0]);
    return [first, ...(ranked === "f1" ? [] : tasks), ...more];
  },

  filters(run) {
    return [
      choice("lang", "Language", sliceOptions(run, "lang", "All languages", languageName), state.lang, (lang) =>
        choose({ lang }),
      ),
      choice("group", "Emoji group", sliceOptions(run, "group", "All groups", flat), state.group, (group) =>
        choose({ group }),
      ),
    ];
  },

  slice(run) {
    return findSlice(run, { lang: state.lang, group: state.group });
  },

  groups: [
    { id: "tasks", label: "Tasks", usual: true },
    { id: "kept", label: "Kept and recovered", usual: true },
    { id: "overlap", label: "Overlap", usual: false },
    { id: "use", label: "Emoji used", usual: false },
    { id: "cost", label: "Length and cost", usual: false },
    { id: "failures", label: "Failures", usual: true },
    { id: "replies", label: "Odd replies", usual: false },
  ],

  columns(run, slice, isWhole) {
    const of = (name) => (row) => row.slice?.[name] ?? null;
    const whole = (read) => (row) => (isWhole ? (read(row.scores, row.meta) ?? null) : null);
    const column = (group, key, label, get, unit = "percent", title = null) => ({
      group,
      key,
      label,
      get,
      unit,
      title,
      optional: true,
    });
    const category = (level) => whole((s) => s.category?.[level]?.f1);
    return [
      ...tasksOf(run).map((task) =>
        column(
          "tasks",
          task,
          task,
          of(task),
          "percent",
          `share of posts whose ${task} label stays that of the original`,
        ),
      ),
      column("kept", "kept", "kept", of("kept"), "percent", "of labels that the text alone gets too"),
      column(
        "kept",
        "recovered",
        "recovered",
        of("recovered"),
        "percent",
        "of labels that the text alone does not get",
      ),
      column(
        "overlap",
        "precision",
        "precision",
        whole((s) => s.overlap?.precision),
      ),
      column(
        "overlap",
        "recall",
        "recall",
        whole((s) => s.overlap?.recall),
      ),
      column("overlap", "f1", "F1", of("f1"), "percent", "recommended against original emoji"),
      column("overlap", "group_f1", "same group", category("group"), "percent", "F1 of Unicode groups"),
      column("overlap", "subgroup_f1", "same subgroup", category("subgroup"), "percent", "F1 of Unicode subgroups"),
      column(
        "use",
        "distinct",
        "distinct",
        whole((s) => s.diversity?.distinct),
        "count",
        "different emoji used",
      ),
      column(
        "use",
        "entropy",
        "entropy, bits",
        whole((s) => entropyOf(s)),
        "score",
        "of the distribution of emoji used",
      ),
      column(
        "use",
        "divergence",
        "divergence, bits",
        whole((s) => s.distribution?.jensen_shannon),
        "score",
        "Jensen-Shannon divergence from the original emoji: 0 alike, 1 nothing in common",
      ),
      column(
        "use",
        "emoji_per_reply",
        "emoji a reply",
        whole((s, m) => m.emoji_per_reply),
        "score",
      ),
      column(
        "use",
        "across_attempts",
        "varied",
        whole((s) => s.diversity?.across_attempts),
        "percent",
        "how unlike two attempts at a post are",
      ),
      column(
        "cost",
        "calls",
        "calls",
        whole((s, m) => costOf(m, m.calls)),
        "count",
      ),
      column(
        "cost",
        "tokens_in",
        "tokens in",
        whole((s, m) => costOf(m, m.tokens?.input)),
        "count",
      ),
      column(
        "cost",
        "tokens_out",
        "tokens out",
        whole((s, m) => costOf(m, m.tokens?.output)),
        "count",
      ),
      column(
        "cost",
        "tokens_per_emoji",
        "tokens an emoji",
        whole((s) => s.cost?.tokens_per_emoji?.ratio_of_means),
        "score",
      ),
      column(
        "cost",
        "seconds",
        "seconds",
        whole((s, m) => costOf(m, m.seconds?.total)),
        "score",
      ),
      column(
        "cost",
        "seconds_per_call",
        "seconds a call",
        whole((s, m) => costOf(m, m.seconds?.per_call)),
        "score",
      ),
      column(
        "cost",
        "seconds_per_emoji",
        "seconds an emoji",
        whole((s) => s.cost?.seconds_per_emoji?.ratio_of_means),
        "score",
      ),
      column(
        "cost",
        "usd",
        "US dollars",
        whole((s, m) => costOf(m, m.usd)),
        "fine",
      ),
      {
        group: "failures",
        key: "failures",
        label: "failures",
        title: "calls that failed, missing replies, labels missing or not read",
        optional: true,
        get: whole((s, m) => sumOf(failureCounts(s, m))),
        cell: (row) => failureCell(failureCounts(row.scores, row.meta)),
      },
      ...Object.entries(ODD_REPLIES).map(([key, [label, title]]) => ({
        ...column(
          "replies",
          key,
          label,
          whole((s) => s.replies?.[key] || null),
          "count",
          title,
        ),
        cell: (row) => countCell(row.scores.replies?.[key], row.meta.baseline),
        value: (row) => (isWhole ? (row.scores.replies?.[key] ?? 0) : null),
      })),
    ];
  },

  /** What these data say first of all. */
  verdict(run) {
    const { systems, differences = [], ranked_by: ranked } = run.document;
    const own = run.systems.filter((system) => !system.baseline && systems[system.name]);
    const apart = ranked === "f1" ? [] : againstText(run, own, differences); // no emoji match none by construction
    return [bestSentence(own, systems), ...apart, rankedSentence(ranked)];
  },

  alerts(run) {
    const { leaks, warnings = [] } = run.document;
    const failed = run.systems
      .map((s) => [s.name, failureCounts(run.document.systems[s.name] || {}, s).missing])
      .filter(([, n]) => n && n > 0);
    const unparsed = Object.entries(run.document.systems)
      .map(([name, s]) => [name, total(s.replies?.unparsed_labels)])
      .filter(([, n]) => n);
    return [
      failed.length ? `Calls without a reply: ${countsText(failed)}. They count as not preserved.` : null,
      unparsed.length ? `Labels that could not be read: ${countsText(unparsed)}.` : null,
      leaks?.count ? `${plural(leaks.count, "plain text")} still held emoji, a hint to the recommender.` : null,
      ...warnings,
    ];
  },

  perceived: (run) => tasksOf(run).some((task) => task === "age" || task === "gender"),

  /** Per class, for a system opened. */
  detail(row) {
    const classes = row.scores.per_class || {};
    const rows = Object.entries(classes).flatMap(([task, labels]) =>
      Object.entries(labels).map(([label, value]) => ({ task, label, value })),
    );
    if (!rows.length) return el("p", { class: "empty" }, "There are no labels, so nothing is known by class.");
    return el(
      "div",
      { class: "classes" },
      Object.entries(classes).map(([task, labels]) =>
        dataTable({
          caption: `${task}, by the original's label`,
          name: `class-${row.name}-${task}`,
          label: `${row.name}: ${task}`,
          columns: [
            { key: "label", label: "label", text: true, get: (r) => r.label },
            { key: "value", label: "preserved", get: (r) => r.value, unit: "percent" },
          ],
          groups: [{ rows: Object.entries(labels).map(([label, value]) => ({ label, value })) }],
        }),
      ),
    );
  },

  after(run) {
    const judges = (run.judges || []).map(
      (judge) => judge.sentence || `How good ${judge.judge} is, is not known: ${judge.reason}.`,
    );
    return [
      judges.length ? el("p", { class: "explain" }, words(judges.join(" "))) : null,
      panelSection(run),
      differencesSection(run, "percent"),
    ];
  },
};

/** A cost that is known, or the reason why it is not. */
function costOf(meta, value) {
  return value ?? { value: null, reason: meta.cost_reason || "no calls were recorded for it" };
}

function tasksOf(run) {
  if (run.document.ranked_by === "f1") return [];
  const known = Object.values(run.document.systems);
  return TASKS.filter((task) => known.some((scores) => isKnown(scores.preservation?.[task])));
}

function entropyOf(scores) {
  const { entropy_bits: value, entropy_bits_ci: ci } = scores.diversity || {};
  if (value === undefined || value === null) return { value: null, reason: "no emoji were used" };
  return ci ? { value, ci } : { value };
}

function total(counts) {
  if (typeof counts === "number") return counts;
  return counts && typeof counts === "object" ? Object.values(counts).reduce((sum, part) => sum + total(part), 0) : 0;
}

/** "system 3, other 1", of pairs of a name and a count. */
function countsText(counts) {
  return counts.map(([name, n]) => `${name} ${n.toLocaleString("en-US")}`).join(", ");
}

/** A count that should be nought; of a baseline it is what it is made to do. */
function countCell(count, isExpected = false) {
  return el(
    "span",
    { class: count && !isExpected ? "value warn" : "value soft" },
    (count || 0).toLocaleString("en-US"),
  );
}

/** What failed of a system, by kind. */
function failureCounts(scores, meta) {
  const replies = scores.replies || {};
  return {
    missing: Math.max(replies.missing || 0, replies.errors || 0, meta.failed || 0), // a call with an error mostly has no reply either
    unlabelled: replies.unlabelled || 0,
    unparsed: total(replies.unparsed_labels ?? scores.unparsed),
  };
}

function sumOf(counts) {
  return Object.values(counts).reduce((sum, n) => sum + n, 0);
}

function failureCell(counts) {
  const names = { missing: "no reply", unlabelled: "no label", unparsed: "not read" };
  const told = Object.entries(counts).filter(([, n]) => n);
  if (!told.length) return countCell(0);
  return told.map(([kind, n]) => el("span", { class: "value warn" }, `${n.toLocaleString("en-US")} ${names[kind]}`));
}

/** Who can be the best system, as far as these data say. */
function bestSentence(own, systems) {
  const ranked = own.filter((system) => systems[system.name].rank);
  if (!ranked.length) return null;
  const top = Math.min(...ranked.map((system) => systems[system.name].rank[0]));
  const first = ranked.filter((system) => systems[system.name].rank[0] === top).map((system) => flat(system.name));
  if (ranked.length === 1) return null; // how it stands against the text alone says more
  if (first.length === 1) return `${first[0]} is ahead of all other systems.`;
  if (first.length === ranked.length)
    return `Tie: these data leave open which of the ${ranked.length} systems is best.`;
  return `Tie: these data leave open which of ${listed(first)} is best.`;
}

const AGAINST_TEXT = { better: "does better than", open: "is not told apart from", worse: "does worse than" };

/** Every system against the text alone, the first thing to ask of a leaderboard: one sentence a kind of answer. */
function againstText(run, own, differences) {
  const found = own.map((system) => fromText(system.name, differences, run.document.data?.posts)).filter(Boolean);
  const all = found.some((one) => one.atOnce) ? `, with all ${plural(comparisonsOf(run), "comparison")} in mind` : "";
  if (found.length === 1)
    return [`${found[0].name} ${AGAINST_TEXT[found[0].kind]} the text without any emoji: ${found[0].points}${all}.`];
  const heads = {
    better: "Better than the text without any emoji",
    open: "Not told apart from the text without any emoji",
    worse: "Worse than the text without any emoji",
  };
  return Object.entries(heads).map(([kind, head]) => {
    const those = found.filter((one) => one.kind === kind).map((one) => `${one.name} (${one.points})`);
    return those.length
      ? `${head}${all}: ${listed(those.length > 5 ? [...those.slice(0, 4), `${those.length - 4} more`] : those)}.`
      : null;
  });
}

/** A tested difference with an interval, as that of one of its systems from the other. */
function turnedTo(system, { system: first, difference }, ci) {
  if (first === system) return { value: difference.value, ci };
  return { value: -difference.value, ci: ci && [-ci[1], -ci[0]] };
}

/** A system less the text alone, with the interval that decides whether they are told apart. */
function fromText(name, differences, posts) {
  const found = differences.find(
    (d) => (d.system === name && d.against === TEXT_ALONE) || (d.against === name && d.system === TEXT_ALONE),
  );
  if (!found || numberOf(found.difference) === null) return null;
  const atOnce = "simultaneous_ci" in found;
  const ci = atOnce ? found.simultaneous_ci : intervalOf(found.difference);
  const turned = turnedTo(name, found, ci);
  const on = found.posts && found.posts !== posts ? ` on ${plural(found.posts, "post")}` : "";
  return {
    name: flat(name),
    kind: found.separated ? (turned.value > 0 ? "better" : "worse") : "open",
    points: `${sentenceNumber(turned, "percent", true)} points${on}`,
    atOnce,
  };
}

function rankedSentence(ranked) {
  if (ranked === "f1") return "Ranked by overlap with the original emoji (F1), as there are no labels.";
  return "Score: the share of posts whose label, by the judge, stays that of the original post, mean of the tasks. Kept: of labels that the text alone gets too; recovered: of those it does not.";
}
