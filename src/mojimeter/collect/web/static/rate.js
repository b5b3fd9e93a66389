// The page on which items are rated: shows the next item at once, keeps what is not saved yet, and says so.
import { newKey, openOutbox, root } from "./outbox.js";
import { listenToKeys } from "./keys.js";

const AHEAD = 6; // items fetched at a time, so that a short outage stops nobody
const { csrf, box, total, keys, words } = document.body.dataset;
const say = JSON.parse(words);
const [main, line, pause] = ["main", "state", "pause"].map((id) => document.getElementById(id));
const ahead = new Map(); // position -> item
const given = new Map(); // position -> value given on this page
let article, form, position, before, shownAt, seen, since, busy, saved, leaving, soon;

function tell(state, word, n) {
  line.dataset.state = state;
  line.textContent = say[word].replace("{n}", n);
}

const outbox = openOutbox(box, csrf, ({ waiting, refused, problem, kept }) => {
  clearTimeout(soon);
  saved ||= waiting > 0;
  leaving &&= waiting > 0;
  if (refused) tell("unsaved", "state_refused", refused);
  else if (!waiting) { if (saved) tell("saved", "state_saved"); }
  else if (leaving) tell("unsaved", "paused_unsent");
  else if (!kept) tell("unsaved", "state_no_storage");
  else if (problem) tell("unsaved", `state_${problem}`, waiting);
  else soon = setTimeout(tell, 300, "saving", "state_saving");
});

// take over the item that stands in the page; known: what the server does not know yet
function begin(known) {
  article = main.querySelector("article");
  form = main.querySelector("form");
  form.noValidate = true;
  position = +article.dataset.position;
  known = outbox.value(position) ?? known;
  if (known) form.elements.value.value = known;
  before = form.elements.value.value;
  shownAt = Date.now() / 1000;
  seen = 0;
  since = performance.now();
  document.title = document.title.replace(/^.*? · /, `${article.dataset.heading} · `);
  busy = false;
  if (!ahead.has(Math.min(total, position + 3))) fetchCells(position + 1, AHEAD).catch(() => {});
}

async function fetchCells(from, count) {
  const response = await fetch(`${root}cells?from=${from}&count=${count}`, { signal: AbortSignal.timeout(8000) });
  const answer = await response.json();
  // the session has ended, or is another rater's now
  if ((response.status === 401 && !outbox.waiting()) || (response.ok && answer.box !== box)) location.reload();
  if (!response.ok) throw response.status;
  for (const cell of answer.cells) ahead.set(cell.position, cell.html);
}

// fresh: ask the server first, it may know of a later value
async function go(to, fresh, push = true) {
  if (busy) return;
  busy = true;
  if (to > total) {
    await settled();
    return location.assign(root);
  }
  for (;;) {
    if (!fresh && ahead.has(to)) break;
    try {
      await fetchCells(to, fresh ? 1 : AHEAD);
      if (!ahead.has(to)) return location.assign(`${root}rate/${to}`);
      break;
    } catch {
      if (!ahead.has(to)) tell("unsaved", "state_wait");
      fresh = false;
    }
    if (!ahead.has(to)) await new Promise((done) => { setTimeout(done, 2000); addEventListener("online", done); });
  }
  main.innerHTML = ahead.get(to);
  if (push) history.pushState(null, "", `${root}rate/${to}`);
  begin(fresh ? "" : given.get(to));
  outbox.drain();
  scrollTo(0, 0);
  document.getElementById("heading").focus({ preventScroll: true });
}

async function settled() {
  while (outbox.waiting()) await new Promise((done) => setTimeout(done, 50));
}

async function save() {
  if (busy || performance.now() - since < 150) return; // the second half of a double click
  const onward = form.querySelector("a.go");
  if (onward) return onward.click();
  const value = form.elements.value.value.trim();
  const field = form.querySelector("textarea, [type=radio]");
  document.getElementById("missing").textContent = value ? "" : field.type === "radio" ? say.choose_first : say.write_first;
  if (!value) return field.focus();
  if (value !== before) {
    given.set(position, value);
    outbox.put({
      key: newKey(), position, cell: article.dataset.cell, value, shown_at: shownAt,
      duration_ms: Math.round(seen + (document.hidden ? 0 : performance.now() - since)),
    });
  }
  if (article.dataset.part === "main") return go(position + 1);
  busy = true;
  await settled(); // what was expected is told only once the answer is stored
  busy = false;
  await go(position, true, false);
  if (!form.querySelector("a.go")) go(position + 1);
}

main.addEventListener("submit", (event) => { event.preventDefault(); save(); });
main.addEventListener("input", () => { document.getElementById("missing").textContent = ""; });
main.addEventListener("click", (event) => {
  const to = +event.target.closest("a[rel]")?.pathname.split("/").at(-1);
  if (!to || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  go(to, true);
});
pause.addEventListener("submit", (event) => {
  if (!outbox.waiting()) return;
  event.preventDefault();
  leaving = true;
  outbox.drain();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) seen += performance.now() - since;
  else since = performance.now();
});
addEventListener("popstate", () => go(+location.pathname.split("/").at(-1), true, false));
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
addEventListener("beforeunload", (event) => { if (line.textContent === say.state_no_storage) event.preventDefault(); });
if (keys) {
  listenToKeys(JSON.parse(keys), {
    save,
    back: () => position > 1 && go(position - 1, true),
    choose(value) {
      const radio = form.querySelector(`[value="${value}"]`);
      radio.checked = true;
      radio.focus();
      document.getElementById("missing").textContent = "";
    },
  });
}
begin();
outbox.drain();
