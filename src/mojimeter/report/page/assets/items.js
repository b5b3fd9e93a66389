// The second tab: all posts or pairs in a list that can be searched, sorted and filtered, and one of them in full.

let itemsView = null; // the controls and the list live as long as the run is the same, so that typing keeps the focus

function itemsTab(panel, runs) {
  const run = chosenRun(runs);
  if (!run) {
    replaceContent(
      panel,
      emptyTab("Items", "No run here holds its items: a run folder, with its posts or pairs, fills this tab."),
    );
    return;
  }
  if (itemsView?.run !== run) {
    itemsView = new ItemsView(run, runs);
    replaceContent(panel, el("h2", {}, "Items"), itemsView.node);
  }
  itemsView.update();
}

const ORDERS = [
  ["", "as in the data"],
  ["disagreement", "where systems disagree most"],
  ["mattered", "where emoji mattered"],
];

class ItemsView {
  constructor(run, runs) {
    this.run = run;
    this.runs = runs;
    this.shown = "";
    this.controls = el("div", { class: "filters" });
    this.search = el("input", {
      type: "search",
      id: "search",
      data: { key: "search" },
      autocomplete: "off",
      spellcheck: "false",
      on: { input: () => this.typed() },
    });
    this.count = el("p", { class: "counted", role: "status" });
    this.list = new VirtualList({ label: "Items", row: (index) => this.row(index), open: (index) => this.open(index) });
    this.detail = el("article", {
      class: "item",
      "aria-label": "The chosen item",
      on: { keydown: (event) => this.escape(event) },
    });
    this.split = el("div", { class: "split" }, this.list.node, this.detail);
    this.node = el(
      "div",
      { class: "items" },
      el(
        "div",
        { class: "controls" },
        el("div", { class: "field wide" }, el("label", { for: "search" }, "Search text, id or emoji"), this.search),
        this.controls,
      ),
      this.count,
      this.split,
      el(
        "p",
        { class: "print-only" },
        `The list of ${run.items.n.toLocaleString("en-US")} items is not printed; the file holds it.`,
      ),
    );
  }

  typed() {
    clearTimeout(this.waiting);
    this.waiting = setTimeout(() => {
      this.waiting = null;
      choose({ q: this.search.value, item: "" }, { quietly: true });
    }, 60);
  }

  update() {
    if (this.search.value !== state.q && !this.waiting) this.search.value = state.q;
    replaceContent(this.controls, this.filters());
    const wanted = ["q", "order", "lang", "group", "category", "label", "only"]
      .map((name) => state[name])
      .join("\u0000");
    if (wanted !== this.shown) {
      this.shown = wanted;
      this.list.show(findItems(this.run));
      this.count.textContent = `${this.list.order.length.toLocaleString("en-US")} of ${plural(this.run.items.n, "item")}`;
    }
    this.showChosen();
  }

  filters() {
    const { run } = this;
    const { items } = run;
    const orders = ORDERS.filter(([key]) => !key || items[key]);
    return [
      runPicker(this.runs, run),
      choice("order", "Order", orders, state.order, (order) => choose({ order })),
      choice("lang", "Language", valueOptions(items.lang, "All languages", languageName), state.lang, (lang) =>
        choose({ lang }),
      ),
      choice("group", "Emoji group", groupOptions(run), state.group, (group) => choose({ group })),
      choice("category", "Category", valueOptions(items.category, "All categories", flat), state.category, (category) =>
        choose({ category }),
      ),
      choice("label", "Original's label", labelOptions(run), state.label, (label) => choose({ label })),
      choice("only", "Only", onlyOptions(run), state.only, (only) => choose({ only })),
      downloadButtons(() => ({
        name: `${run.name}-items`,
        about: { run: run.name, signature: run.signature ?? null },
        rows: this.list.order.map((index) => savedItem(run, index)),
      })),
    ];
  }

  row(index) {
    const { items } = this.run;
    const text = items.text?.[index];
    const lang = items.lang?.[index];
    const shares = [
      ["disagreement", "disagree"],
      ["mattered", "mattered"],
    ].filter(([name]) => typeof items[name]?.[index] === "number");
    return [
      el(
        "span",
        { class: "line", dir: "auto", lang: languageTag(lang) },
        text ? marked(text.length > 400 ? text.slice(0, 400) : text) : words(String(items.id[index])),
      ),
      el(
        "span",
        { class: "under" },
        el("span", { class: "id" }, named(String(items.id[index]).slice(0, 80))),
        failureOf(this.run, index) ? el("span", { class: "warn" }, failureOf(this.run, index)) : null,
        lang ? el("span", {}, flat(lang)) : null,
        items.category?.[index] ? el("span", {}, flat(items.category[index])) : null,
        shares.map(([name, word]) => el("span", {}, `${word} ${formatted(items[name][index] * 100, "count")}%`)),
      ),
    ];
  }

  open(index) {
    choose({ item: String(this.run.items.id[index]) });
    this.detail.querySelector("h3")?.focus();
  }

  escape(event) {
    if (event.key !== "Escape") return;
    this.close();
    event.preventDefault();
  }

  close() {
    choose({ item: "" });
    this.list.node.focus();
  }

  showChosen() {
    const index = indexOfItem(this.run, state.item);
    if (index !== this.chosen) {
      this.chosen = index;
      this.list.choose(index, { reveal: true });
      this.node.classList.toggle("reading", index !== null);
      replaceContent(
        this.detail,
        index === null
          ? el("p", { class: "empty" }, "Choose an item to see what every system did with it.")
          : this.content(index),
      );
      this.detail.scrollTop = 0;
    }
  }

  content(index) {
    const { run } = this;
    const detail = { recommendation: postDetail, disambiguation: pairDetail, rating_study: ratedDetail }[run.kind];
    return [
      el(
        "div",
        { class: "item-head" },
        el("h3", { tabindex: "-1" }, run.kind === "disambiguation" ? "Pair " : "Item ", named(run.items.id[index])),
        el(
          "button",
          { type: "button", class: "close", data: { key: "close" }, on: { click: () => this.close() } },
          "Back to the list",
        ),
      ),
      detail(run, index),
    ];
  }
}

/** The indices of items that fit all choices, in the chosen order. */
function findItems(run) {
  performance.mark("search-start");
  const { items } = run;
  const tests = [...wordTests(run, state.q), ...filterTests(run)];
  const out = [];
  for (let index = 0; index < items.n; index++) if (tests.every((test) => test(index))) out.push(index);
  const by = items[state.order];
  if (by) out.sort((a, b) => (by[b] ?? -1) - (by[a] ?? -1) || a - b);
  performance.measure("search", "search-start");
  return out;
}

/** A search looks for every word in text and id; an emoji also among what systems chose. */
function wordTests(run, query) {
  const sought = query.trim();
  if (!sought) return [];
  run.haystack ??= haystack(run);
  return pieces(sought).flatMap(([isEmoji, string]) => {
    if (isEmoji) {
      const places = placesOfEmoji(run, emojiTable.index.get(string));
      return [(index) => places.has(index) || run.haystack[index].includes(string)];
    }
    return string
      .toLowerCase()
      .split(/\s+/)
      .filter(Boolean)
      .map((word) => (index) => run.haystack[index].includes(word));
  });
}

function haystack({ items }) {
  const columns = [items.id, items.text, items.question, items.context_1, items.context_2].filter(Boolean);
  return Array.from({ length: items.n }, (_, index) =>
    columns
      .map((column) => String(column[index] ?? ""))
      .join("\n")
      .toLowerCase(),
  );
}

function placesOfEmoji({ items }, emoji) {
  const places = new Set();
  const columns = [items.gold, ...Object.values(items.systems || {}).map((own) => own.emoji)].filter(Array.isArray);
  for (const column of columns)
    column.forEach((chosen, index) => Array.isArray(chosen) && chosen.includes(emoji) && places.add(index));
  return places;
}

function filterTests(run) {
  const { items } = run;
  const tests = [];
  const isOption = (options, value) => value && options.some(([known]) => known === value);
  if (isOption(valueOptions(items.lang, "", String), state.lang))
    tests.push((index) => items.lang[index] === state.lang);
  if (isOption(valueOptions(items.category, "", String), state.category))
    tests.push((index) => items.category[index] === state.category);
  if (isOption(groupOptions(run), state.group))
    tests.push((index) => (items.gold[index] || []).some((emoji) => emojiTable.groups[emoji] === state.group));
  if (isOption(labelOptions(run), state.label)) {
    const at = state.label.indexOf("=");
    const [task, label] = [state.label.slice(0, at), state.label.slice(at + 1)];
    const [judge] = judgesOf(run);
    tests.push((index) => labelOf(run, judge, "gold", task, index) === label);
  }
  if (state.only === "failures") tests.push((index) => failureOf(run, index) !== null);
  if (state.only === "leaked") {
    const leaked = new Set(items.leaked || []);
    tests.push((index) => leaked.has(index));
  }
  if (state.only === "rated")
    tests.push((index) => Object.values(items.people || {}).some((byItem) => byItem[index]?.length));
  return tests;
}

/** Whether anything "failed" or was an "odd reply" for an item; what is odd in a baseline is what it is made to do. */
function failureOf(run, index) {
  run.failures ??= failuresOf(run);
  return run.failures.get(index) ?? null;
}

function failuresOf(run) {
  const found = new Map();
  const own =
    run.systems
      ?.filter((meta) => !meta.baseline)
      .map((meta) => run.items.systems?.[meta.name])
      .filter(Boolean) || [];
  const note = (table, word) => {
    for (const key of Object.keys(table || {})) found.set(Number(key), word);
  };
  for (const system of own) note(system.flags, "odd reply");
  for (const system of own) note(system.error, "failed");
  return found;
}

function indexOfItem(run, id) {
  if (!id) return null;
  run.byId ??= new Map(run.items.id.map((name, index) => [String(name), index]));
  return run.byId.get(id) ?? null;
}

function valueOptions(column, all, label) {
  if (!Array.isArray(column)) return [];
  const values = [...new Set(column)].filter((value) => value !== null && value !== undefined && value !== "").sort();
  return values.length < 2 ? [] : [["", all], ...values.map((value) => [value, label(value)])];
}

function groupOptions(run) {
  if (!run.items.gold) return [];
  run.emojiGroups ??= [
    ...new Set(run.items.gold.flatMap((chosen) => (chosen || []).map((emoji) => emojiTable.groups[emoji]))),
  ]
    .filter(Boolean)
    .sort();
  return run.emojiGroups.length < 2
    ? []
    : [["", "All groups"], ...run.emojiGroups.map((group) => [group, flat(group)])];
}

function labelOptions(run) {
  if (run.kind !== "recommendation" || !judgesOf(run).length) return [];
  const options = labelledTasks(run).flatMap((task) =>
    run.tasks[task].labels.map((label) => [`${task}=${label}`, `${task}: ${flat(label)}`]),
  );
  return options.length ? [["", "Any label"], ...options] : [];
}

function onlyOptions(run) {
  const options = [["", "All items"]];
  if (run.kind !== "rating_study" && failuresOf(run).size) options.push(["failures", "with failures or odd replies"]);
  if (run.items.leaked?.length) options.push(["leaked", "leaked: emoji left in the plain text"]);
  if (Object.keys(run.items.people || {}).length) options.push(["rated", "rated by people"]);
  return options;
}

/** An item as a row of a saved file. */
function savedItem(run, index) {
  const { items } = run;
  const row = { id: items.id[index] };
  for (const name of ["category", "lang", "text", "question", "context_1", "answer_1", "context_2", "answer_2"])
    if (items[name]) row[name] = items[name][index] ?? null;
  for (const name of ["disagreement", "mattered"]) if (items[name]) row[name] = items[name][index] ?? null;
  const strings = (chosen) => (chosen ? chosen.map((emoji) => emojiTable.strings[emoji]).join(" ") : null);
  if (items.gold) row.gold = strings(items.gold[index]);
  for (const [system, own] of Object.entries(items.systems || {})) {
    if (own.emoji) row[`emoji: ${system}`] = strings(own.emoji[index]);
    for (const condition of Object.keys(own.answer || {})) {
      const answer = own.answer[condition][index];
      row[`answer ${condition}: ${system}`] = answer ?? null;
    }
  }
  for (const [system, byRater] of Object.entries(items.scores || {})) {
    for (const [rater, scores] of Object.entries(byRater)) row[`${system}: ${rater}`] = scores[index] ?? null;
  }
  return row;
}
