// Ratings that the server has not acknowledged, kept in localStorage until it has. One entry a rating, so that two tabs
// cannot overwrite each other's; sent in order; sent twice does no harm, because a key is stored once.
const PAUSES = [1, 2, 4, 8, 15, 30]; // seconds

// where the study is served: "/", or "/study1/" where it shares its host
export const root = new URL("..", import.meta.url).pathname;

export function newKey() {
  if (crypto.randomUUID) return crypto.randomUUID();
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (b) => b.toString(16).padStart(2, "0")).join("");
}

// tell({waiting, refused, problem, kept}) is called whenever something changes
export function openOutbox(box, csrf, tell) {
  const prefix = `mojimeter:${box}:`;
  const memory = new Map(); // what the browser would not keep
  const refused = new Set();
  let running = false, failures = 0, timer, problem = "";
  const stamp = (name) => parseInt(name.slice(prefix.length), 10);

  function entries() {
    const found = new Map(memory);
    try {
      for (const name of Object.keys(localStorage)) if (name.startsWith(prefix)) found.set(name, localStorage[name]);
    } catch { /* no storage */ }
    return [...found].sort(([a], [b]) => stamp(a) - stamp(b)).map(([name, text]) => [name, JSON.parse(text)]);
  }
  const open = () => entries().filter(([name]) => !refused.has(name));
  const report = () => tell({ waiting: open().length, refused: refused.size, problem, kept: !memory.size });

  async function send(rating) {
    try {
      const { status, ...answer } = await fetch(`${root}ratings`, {
        method: "POST", body: JSON.stringify(rating), keepalive: true, redirect: "error",
        headers: { "Content-Type": "application/json", "X-CSRF-Token": csrf }, signal: AbortSignal.timeout(15000),
      }).then(async (r) => ({ status: r.status, ...(await r.json()) }));
      if (status === 200 && answer.saved === rating.key) return "";
      if ([401, 403].includes(status)) return "session";
      return [404, 409, 410, 413, 422].includes(status) ? "refused" : "unsaved";
    } catch { return "offline"; }
  }

  async function drain() {
    if (running) return;
    running = true;
    clearTimeout(timer);
    problem = "";
    report();
    for (let next; !problem && (next = open()[0]); report()) {
      const [name, rating] = next;
      const result = await send(rating);
      if (result === "refused") refused.add(name);
      else if (result) problem = result;
      else {
        memory.delete(name);
        try { localStorage.removeItem(name); } catch { /* no storage */ }
        failures = 0;
      }
    }
    running = false;
    if (problem) timer = setTimeout(drain, 1000 * (PAUSES[failures++] ?? PAUSES.at(-1)));
    report();
  }

  addEventListener("online", drain);
  addEventListener("storage", drain); // another tab has put something in, or sent it
  return {
    put(rating) {
      // entries are sent in the order in which they were made, whatever the device's clock does meanwhile
      const made = Math.max(Date.now(), 1 + Math.max(0, ...entries().map(([name]) => stamp(name))));
      const name = `${prefix}${made}:${rating.key}`;
      try { localStorage.setItem(name, JSON.stringify(rating)); } catch { memory.set(name, JSON.stringify(rating)); }
      report();
      drain();
    },
    drain,
    waiting: () => open().length,
    // the latest value of a position that is not on the server yet
    value: (position) => open().filter(([, rating]) => rating.position === position).at(-1)?.[1].value,
  };
}
