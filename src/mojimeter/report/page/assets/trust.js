// The fifth tab: why one should, or should not, believe the others. Judges, failures, leaks, signatures, data cards.

const KIND_NAMES = {
  recommendation: "recommended emoji",
  disambiguation: "pairs in two contexts",
  rating_study: "rating study",
  judge: "judges",
};

function trustTab(runs) {
  if (!runs.length) return emptyTab("Trust", "Nothing here yet.");
  return [
    el("h2", {}, "Trust"),
    runs.some((run) => run.kind === "judge")
      ? null
      : el(
          "p",
          { class: "explain" },
          "No document of 'mojimeter judge' is in this report; accuracy, sensitivity, noise ceiling and validity of a judge show here when its saved --json is given too.",
        ),
    runs.map(trustSection),
  ];
}

function trustSection(run) {
  return el(
    "section",
    { class: "run" },
    el(
      "h3",
      {},
      named(run.name),
      el("span", { class: "mark" }, run.command ? flat(run.command) : KIND_NAMES[run.kind] || flat(run.kind)),
    ),
    signatureLine(run),
    sentences(run.notes || []),
    trustParts(run),
    run.card
      ? el(
          "details",
          { class: "more" },
          el("summary", {}, "Data card"),
          el("div", { class: "card" }, cardNodes(run.card)),
        )
      : null,
  );
}

function trustParts(run) {
  if (run.kind === "recommendation")
    return [
      judgeQuality(run),
      failureTable(run),
      leakLine(run),
      judgeAgreement(run),
      sentences(run.document.warnings || [], "alerts"),
    ];
  if (run.kind === "disambiguation")
    return [pairFailures(run), verifierPart(run), sentences(run.document.warnings || [], "alerts")];
  if (run.kind === "rating_study")
    return [sentences([run.document.refused, ...(run.study.cautions || [])], "alerts"), designLine(run)];
  return [
    hasPerceived(run.document) ? el("p", { class: "perceived" }, PERCEIVED) : null,
    findings(run.document, flat(run.name)),
  ];
}

function signatureLine(run) {
  if (!run.signature) return el("p", { class: "explain" }, "This run has no signature.");
  const done = el("span", { role: "status", class: "soft" });
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(run.signature);
      done.textContent = " copied";
    } catch {
      getSelection().selectAllChildren(code); // no clipboard from a file in some browsers: selected, ready for Ctrl+C
      done.textContent = " selected: press Ctrl+C";
    }
  };
  const code = el("code", {}, words(run.signature));
  return el(
    "p",
    { class: "signature-line" },
    hiddenText("Signature: "),
    code,
    " ",
    el(
      "button",
      {
        type: "button",
        class: "small",
        data: { key: `copy-${run.id}` },
        "aria-label": `Copy the signature of ${flat(run.name)}`,
        on: { click: copy },
      },
      "Copy",
    ),
    done,
  );
}

/** What the run's student judges were measured to be worth. */
function judgeQuality(run) {
  return (run.judges || []).map((judge) => {
    const tasks = Object.entries(judge.tasks || {});
    return el(
      "section",
      { class: "finding" },
      el("h4", {}, "How good the judge is: ", named(judge.judge)),
      el("p", {}, words(judge.sentence || `Not known: ${judge.reason}.`)),
      tasks.length
        ? dataTable({
            caption: `On ${plural(judge.posts, "post")}${judge.authors ? ` by ${plural(judge.authors, "author")}` : ""}, with 95% intervals`,
            name: `quality-${run.id}-${judge.judge}`,
            label: `${run.name}: how good ${judge.judge} is`,
            columns: [
              { key: "task", label: "task", text: true, get: ([task]) => task },
              {
                key: "accuracy",
                label: "right",
                unit: "share",
                title: "percent of labels",
                get: ([, t]) => t.accuracy,
              },
              {
                key: "commonest",
                label: "commonest",
                unit: "share",
                title: "percent right by always saying the commonest label",
                get: ([, t]) => t.commonest,
              },
              { key: "kappa", label: "kappa", unit: "score", title: "Cohen's kappa", get: ([, t]) => t.kappa },
              {
                key: "moves",
                label: "moves",
                unit: "share",
                optional: true,
                title: "percent of labels that change with random emoji",
                get: ([, t]) => t.moves,
              },
              {
                key: "outside",
                label: "kappa outside",
                unit: "score",
                optional: true,
                title: "Cohen's kappa with another judge on other posts",
                get: ([, t]) => t.outside,
              },
            ],
            groups: [{ rows: tasks }],
          })
        : null,
      tasks.length
        ? el(
            "p",
            { class: "explain" },
            "Right, commonest and moves in percent. Commonest: always saying the commonest label; moves: labels that change with random emoji.",
            judge.outside
              ? ` Outside: with ${flat(judge.outside.judge)} on ${plural(judge.outside.posts, "other post")}, what to expect elsewhere.`
              : null,
          )
        : null,
      tasks.some(([task]) => task === "age" || task === "gender") ? el("p", { class: "perceived" }, PERCEIVED) : null,
    );
  });
}

/** What failed, by system and kind; kinds that no system shows are named under the table. */
function failureTable(run) {
  const kinds = Object.entries({ ...FAILURES, ...ODD_REPLIES });
  const rows = run.systems.map((meta) => {
    const replies = run.document.systems[meta.name]?.replies || {};
    return {
      name: meta.name,
      total: replies.total ?? null,
      unparsed: total(replies.unparsed_labels),
      ...Object.fromEntries(kinds.map(([key]) => [key, replies[key] ?? 0])),
    };
  });
  const shown = kinds.filter(([key]) => rows.some((row) => row[key]));
  const none = kinds.filter(([key]) => !rows.some((row) => row[key])).map(([, [, title]]) => title);
  const count = (key, label, title) => ({ key, label, title, get: (r) => r[key], cell: (r) => countCell(r[key]) });
  return [
    dataTable({
      caption: "Failures and odd replies, counts",
      name: `failures-${run.id}`,
      label: `Failures of ${run.name}`,
      columns: [
        { key: "name", label: "system", text: true, get: (r) => r.name, cell: (r) => breakable(r.name) },
        { key: "total", label: "replies", unit: "count", optional: true, get: (r) => r.total },
        ...shown.map(([key, [label, title]]) => count(key, label, title)),
        count("unparsed", "unparsed labels", "labels that could not be read, all tasks"),
      ],
      groups: [{ rows }],
    }),
    shown.length
      ? el("p", { class: "explain" }, `${shown.map(([, [label, title]]) => `${label}: ${title}`).join("; ")}.`)
      : null,
    none.length ? el("p", { class: "explain" }, `None of: ${none.join("; ")}.`) : null,
  ];
}

function leakLine(run) {
  const leaks = run.document.leaks?.count ?? run.leaks;
  const ids = run.document.leaks?.ids || [];
  if (!leaks) return el("p", {}, "Leaks: no plain text that systems saw still held emoji.");
  return el(
    "details",
    { class: "more" },
    el("summary", {}, `Leaks: ${plural(leaks, "plain text")} that systems saw still held emoji`),
    el("p", {}, words(ids.slice(0, 500).join(", ")), ids.length > 500 ? ` and ${ids.length - 500} more` : null),
  );
}

function judgeAgreement(run) {
  const { panel } = run.document;
  const kin = run.systems
    .filter((s) => s.kin?.length)
    .map((s) => `${flat(s.name)} is judged by its kin: ${flat(s.kin.join(", "))}`);
  return [
    kin.length ? sentences(kin, "alerts") : null,
    panel?.agreement
      ? el(
          "section",
          { class: "finding" },
          el("h4", {}, "Agreement of the judges"),
          findings(panel.agreement, `${flat(run.name)}: agreement of the judges`, 5),
        )
      : null,
    Object.keys(run.judge_costs || {}).length
      ? el(
          "section",
          { class: "finding" },
          el("h4", {}, "What judging cost"),
          findings(run.judge_costs, `${flat(run.name)}: judge`, 5),
        )
      : null,
  ];
}

function pairFailures(run) {
  const rows = run.systems.map((meta) => ({
    name: meta.name,
    failed: meta.failed || 0,
    unparsed: run.document.systems[meta.name]?.unparsed,
  }));
  return dataTable({
    caption: "Failures, counts",
    name: `failures-${run.id}`,
    label: `Failures of ${run.name}`,
    columns: [
      { key: "name", label: "system", text: true, get: (r) => r.name, cell: (r) => breakable(r.name) },
      { key: "failed", label: "no answer", get: (r) => r.failed, cell: (r) => countCell(r.failed) },
      {
        key: "unparsed",
        label: "not read",
        get: (r) => total(r.unparsed),
        cell: (r) => [countCell(total(r.unparsed)), unreadKinds(r.unparsed)],
      },
    ],
    groups: [{ rows }],
  });
}

function unreadKinds(counts) {
  const parts = Object.entries(counts && typeof counts === "object" ? counts : {}).filter(([, n]) => total(n));
  return parts.length
    ? el("span", { class: "ci" }, parts.map(([kind, n]) => `${flat(kind)} ${total(n)}`).join(", "))
    : null;
}

function verifierPart(run) {
  const { verifier } = run.document;
  if (!verifier) return null;
  return el(
    "section",
    { class: "finding" },
    el("h4", {}, "The verifier: who says which answers are right"),
    findings(verifier, `${flat(run.name)}: verifier`, 5),
  );
}

function designLine(run) {
  return el("p", {}, words(run.document.describe || ""));
}

function hasPerceived(value) {
  if (!value || typeof value !== "object") return false;
  return Object.entries(value).some(([key, part]) => key === "age" || key === "gender" || hasPerceived(part));
}

/** A data card: headings, lists and paragraphs of its Markdown; everything else as the text that it is. */
function cardNodes(text) {
  const out = [];
  let list = null;
  for (const block of String(text).split(/\r?\n/)) {
    const line = block.trimEnd();
    const head = /^(#{1,6})\s+(.*)$/.exec(line);
    const bullet = /^\s*[-*]\s+(.*)$/.exec(line);
    if (bullet) {
      list ??= out[out.push(el("ul", {})) - 1];
      list.append(el("li", {}, marked(bullet[1])));
      continue;
    }
    const more = list && /^\s{2,}\S/.test(line);
    if (more) {
      append(list.lastElementChild, [" ", marked(line.trim())]);
      continue;
    }
    list = null;
    if (head) out.push(heading(Math.min(6, head[1].length + 3), marked(head[2])));
    else if (/^\s*\|/.test(line)) out.push(cardRow(out, line));
    else if (line.trim()) appendParagraph(out, line);
    else out.push(null);
  }
  return out;
}

function cardRow(out, line) {
  const before = out[out.length - 1];
  if (before?.tagName === "PRE") {
    append(before, ["\n", marked(line)]);
    return null;
  }
  return el("pre", { tabindex: "0" }, marked(line));
}

function appendParagraph(out, line) {
  const before = out[out.length - 1];
  if (before?.tagName === "P") append(before, [" ", marked(line.trim())]);
  else out.push(el("p", {}, marked(line.trim())));
}
