// The page on which items are rated: shows the next item at once, keeps what is not saved yet, and says so.
import { newKey, openOutbox } from "./outbox.js";
import { listenToKeys } from "./keys.js";

const AHEAD = 6; // items fetched at a time
const { csrf, box, total, keys, words } = document.body.dataset;
const say = JSON.parse(words);
const main = document.getElementById("main");
const line = document.getElementById("state");
const ahead = new Map(); // position -> item
const given = new Map(); // position -> value given on this page
let article, form, position, before, shownAt, seen, since, busy = false, saved = false, soon = 0;

const outbox = openOutbox(box, csrf, ({ waiting, refused, problem, kept }) => {
  clearTimeout(soon);
  const put = (state, word, n) => { line.dataset.state = state; line.textContent = say[word].replace("{n}", n); };
  if (refused) put("unsaved", "state_refused", refused);
  else if (!waiting) { if (saved) put("saved", "state_saved"); }
  else if (!kept) put("unsaved", "state_no_storage");
  else if (problem) put("unsaved", `state_${problem}`, waiting);
  else soon = setTimeout(() => put("saving", "state_saving"), 300);
});

function ready(fresh) {
  article = main.querySelector("article");
  form = article.querySelector("form");
  form.noValidate = true;
  position = Number(article.dataset.position);
  const known = outbox.value(position) ?? (fresh ? undefined : given.get(position));
  if (known !== undefined) form.elements.value.value = known;
  before = form.elements.value.value;
  shownAt = Date.now() / 1000;
  seen = 0;
  since = performance.now();
  document.title = document.title.replace(/^.*? · /, `${article.dataset.heading} · `);
  busy = false;
  if (position < total && !ahead.has(Math.min(total, position + 3))) fetchCells(position + 1, AHEAD).catch(() => {});
}

async function fetchCells(from, count) {
  const response = await fetch(`/cells?from=${from}&count=${count}`, { redirect: "error", signal: AbortSignal.timeout(8000) });
  if (response.status === 401 && !outbox.waiting()) location.assign(`/rate/${from}`);
  if (!response.ok) throw new Error(response.status);
  const answer = await response.json();
  if (answer.box !== box) return location.reload(); // somebody else signed in
  for (const cell of answer.cells) ahead.set(cell.position, cell);
}

async function go(to, { fresh = false, push = true } = {}) {
  if (busy) return;
  busy = true;
  if (to > total) return finish();
  for (let pause = 1; fresh || !ahead.has(to); pause = Math.min(pause * 2, 15)) {
    try { await fetchCells(to, fresh ? 1 : AHEAD); break; } catch { if (fresh && ahead.has(to)) { fresh = false; break; } }
    line.dataset.state = "unsaved";
    line.textContent = say.state_wait;
    await new Promise((done) => { addEventListener("online", done, { once: true }); setTimeout(done, pause * 1000); });
  }
  if (!ahead.has(to)) return location.assign(`/rate/${to}`);
  main.innerHTML = ahead.get(to).html;
  if (push) history.pushState(null, "", `/rate/${to}`);
  ready(fresh);
  outbox.drain();
  scrollTo(0, 0);
  document.getElementById("heading").focus({ preventScroll: true });
}

async function settled() {
  while (outbox.waiting()) await new Promise((done) => setTimeout(done, 50));
}

async function finish() {
  await settled();
  location.assign("/");
}

async function save() {
  if (busy || performance.now() - since < 150) return; // the second half of a double click
  const forward = form.querySelector("a[rel=next].go");
  if (forward) return forward.click();
  const value = form.elements.value.value.trim();
  const missing = document.getElementById("missing");
  if (!value) {
    missing.textContent = form.querySelector("textarea") ? say.write_first : say.choose_first;
    return form.querySelector("textarea, [type=radio]").focus();
  }
  missing.textContent = "";
  const training = article.dataset.part === "training";
  if (value !== before) {
    saved = true;
    given.set(position, value);
    outbox.put({
      key: newKey(), position, cell: article.dataset.cell, value, shown_at: shownAt,
      duration_ms: Math.round(seen + (document.hidden ? 0 : performance.now() - since)),
    });
  }
  if (!training) return go(position + 1);
  busy = true;
  await settled(); // what was expected is told only once the answer is on the server
  busy = false;
  await go(position, { fresh: true, push: false });
  if (!form.querySelector("a[rel=next].go")) go(position + 1);
}

main.addEventListener("submit", (event) => { event.preventDefault(); save(); });
main.addEventListener("input", () => { document.getElementById("missing").textContent = ""; });
main.addEventListener("click", (event) => {
  const link = event.target.closest("a[rel]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  const to = Number(link.getAttribute("href").split("/").at(-1));
  if (!to) return;
  event.preventDefault();
  go(to, { fresh: true });
});
document.getElementById("pause").addEventListener("submit", (event) => {
  if (!outbox.waiting()) return;
  event.preventDefault();
  line.dataset.state = "unsaved";
  line.textContent = say.paused_unsent;
  outbox.drain();
});
document.addEventListener("visibilitychange", () => {
  if (document.hidden) seen += performance.now() - since;
  else since = performance.now();
});
addEventListener("popstate", () => go(Number(location.pathname.split("/").at(-1)) || position, { fresh: true, push: false }));
addEventListener("pageshow", (event) => { if (event.persisted) location.reload(); });
addEventListener("beforeunload", (event) => { if (line.textContent === say.state_no_storage) event.preventDefault(); });

if (keys) {
  listenToKeys(JSON.parse(keys), {
    save,
    back: () => { if (position > 1) go(position - 1, { fresh: true }); },
    choose(value) {
      const radio = [...form.querySelectorAll("[type=radio]")].find((r) => r.value === value);
      if (!radio) return;
      radio.checked = true;
      radio.focus();
      document.getElementById("missing").textContent = "";
    },
  });
}
ready(true);
if (!location.pathname.endsWith(`/${position}`)) history.replaceState(null, "", `/rate/${position}`);
outbox.drain();
