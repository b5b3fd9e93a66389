// Everything that a reader has chosen stands in the address after '#', so that a link shows the same and the back
// button goes back.

const DEFAULTS = {
  tab: "leaderboard",
  run: "",
  lang: "",
  group: "",
  category: "",
  task: "",
  strategy: "",
  baselines: "1",
  columns: "",
  sort: "",
  open: "",
  q: "",
  order: "",
  label: "",
  only: "",
  item: "",
  system: null, // the empty name is that of the posts' writers
  judges: "",
};

let state = { ...DEFAULTS };
const watchers = [];

function readAddress() {
  const found = new URLSearchParams(location.hash.slice(1));
  const next = { ...DEFAULTS };
  for (const name of Object.keys(DEFAULTS)) if (found.has(name)) next[name] = found.get(name);
  return next;
}

function addressOf(values) {
  const parts = new URLSearchParams();
  for (const [name, value] of Object.entries(values)) if (value !== DEFAULTS[name]) parts.set(name, value);
  const text = parts.toString();
  return text ? `#${text}` : "#";
}

/** Changes what is chosen; `quietly` for typing, which would fill the history with every letter. */
function choose(changes, { quietly = false } = {}) {
  const before = state;
  state = { ...state, ...changes };
  const address = addressOf(state);
  if (address !== (location.hash || "#")) {
    try {
      history[quietly ? "replaceState" : "pushState"](null, "", address);
    } catch {
      location.hash = address; // where a document may not touch the history, such as in a frame without an origin
    }
  }
  for (const watcher of watchers) watcher(state, before);
}

function watchAddress() {
  const follow = () => {
    const next = readAddress();
    if (addressOf(next) === addressOf(state)) return;
    const before = state;
    state = next;
    for (const watcher of watchers) watcher(state, before);
  };
  addEventListener("popstate", follow);
  addEventListener("hashchange", follow);
}

/** Whether a member is in a list kept as one word, such as the open rows; and the list with it put in or taken out. */
function inList(list, member) {
  return list.split("\n").includes(member);
}

function toggled(list, member) {
  const members = list.split("\n").filter(Boolean);
  return (members.includes(member) ? members.filter((m) => m !== member) : [...members, member]).join("\n");
}
