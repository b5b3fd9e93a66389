// Ratings that the server has not acknowledged, kept in localStorage until it has. One entry a rating, so that two tabs
// cannot overwrite each other's; sent in order; sent twice does no harm, because a rating's key is stored once.
const PAUSES = [1, 2, 4, 8, 15, 30];

export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

// tell({waiting, refused, problem, kept}) is called whenever something changes
export function openOutbox(box, csrf, tell) {
  const prefix = `mojimeter:${box}:`;
  const memory = new Map(); // what the browser would not keep
  const refused = new Set();
  let running = false, failures = 0, timer = 0, last = 0, problem = "";

  function entries() {
    const found = new Map(memory);
    try {
      for (let i = 0; i < localStorage.length; i++) {
        const name = localStorage.key(i);
        if (name.startsWith(prefix)) found.set(name, localStorage.getItem(name));
      }
    } catch { /* no storage */ }
    return [...found].sort((a, b) => (a[0] < b[0] ? -1 : 1)).map(([name, text]) => [name, JSON.parse(text)]);
  }

  function remove(name) {
    memory.delete(name);
    refused.delete(name);
    try { localStorage.removeItem(name); } catch { /* no storage */ }
  }

  function report() {
    const all = entries();
    const no = all.filter(([name]) => refused.has(name)).length;
    tell({ waiting: all.length - no, refused: no, problem, kept: memory.size === 0 });
  }

  async function send(rating) {
    let response;
    try {
      response = await fetch("/ratings", {
        method: "POST", body: JSON.stringify(rating), keepalive: true, redirect: "error",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf }, signal: AbortSignal.timeout(15000),
      });
      if (response.ok && (await response.json()).saved === rating.key) return "saved";
    } catch { return "offline"; }
    if ([401, 403].includes(response.status)) return (await renew()) ? "unsaved" : "session";
    return [404, 409, 410, 413, 422].includes(response.status) ? "refused" : "unsaved";
  }

  // another tab may have signed in again; if it is the same rater its session does for us too
  async function renew() {
    try {
      const answer = await (await fetch("/cells?from=1&count=0", { redirect: "error" })).json();
      if (answer.box !== box || answer.csrf === csrf) return false;
      csrf = answer.csrf;
      return true;
    } catch { return false; }
  }

  async function drain() {
    if (running) return;
    running = true;
    clearTimeout(timer);
    problem = "";
    for (let next; (next = entries().find(([name]) => !refused.has(name))); report()) {
      const result = await send(next[1]);
      if (result === "saved") { remove(next[0]); failures = 0; }
      else if (result === "refused") refused.add(next[0]);
      else { problem = result; break; }
    }
    running = false;
    if (problem) timer = setTimeout(drain, 1000 * PAUSES[Math.min(failures++, PAUSES.length - 1)]);
    report();
  }

  addEventListener("online", drain);
  addEventListener("storage", (event) => event.key?.startsWith(prefix) && report());
  return {
    put(rating) {
      last = Math.max(Date.now(), last + 1);
      const name = `${prefix}${String(last).padStart(15, "0")}:${rating.key}`;
      try { localStorage.setItem(name, JSON.stringify(rating)); } catch { memory.set(name, JSON.stringify(rating)); }
      report();
      drain();
    },
    drain,
    // the latest value of a position that is not on the server yet
    value: (position) => entries().filter(([name, r]) => r.position === position && !refused.has(name)).at(-1)?.[1].value,
    waiting: () => entries().filter(([name]) => !refused.has(name)).length,
  };
}
