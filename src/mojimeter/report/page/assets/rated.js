// One item of a rating study: every rater's score of every system.

function ratedDetail(run, index) {
  const { items } = run;
  const raters = [...new Set(Object.values(items.scores || {}).flatMap((byRater) => Object.keys(byRater)))];
  const rows = Object.keys(items.scores || {}).map((name) => ({ name }));
  const score = (row, rater) => items.scores[row.name]?.[rater]?.[index] ?? null;
  const present = raters.filter((rater) => rows.some((row) => score(row, rater) !== null));
  return [
    items.text?.[index] ? quoted(items.text[index], items.lang?.[index], "blockquote", "original") : null,
    dataTable({
      caption: "Every rater's score of every system",
      name: "rated",
      hideCaption: true,
      columns: [
        { key: "system", label: "system", text: true, get: (r) => r.name, cell: (r) => breakable(r.name) },
        ...present.map((rater) => ({
          key: rater,
          label: named(rater),
          get: (r) => score(r, rater),
          cell: (r) => scoreWord(score(r, rater)),
        })),
      ],
      groups: [{ rows }],
    }),
  ];
}

function scoreWord(score) {
  if (score === null) return el("span", { class: "soft" }, "no rating");
  return el("span", { class: "value" }, Number.isInteger(score) ? String(score) : formatted(score, "score"));
}
