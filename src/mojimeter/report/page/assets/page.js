// Start: unpacks the document, makes the tabs, and shows the one that the address names.

const TABS = [
  {
    id: "leaderboard",
    label: "Leaderboard",
    runs: (all) => all.filter((r) => (r.kind === "recommendation" || r.kind === "disambiguation") && r.slices?.length),
    show: leaderboardTab,
  },
  { id: "items", label: "Items", runs: (all) => all.filter((r) => r.items?.n), show: null },
  { id: "emoji", label: "Emoji", runs: (all) => all.filter((r) => r.curves), show: emojiTab },
  { id: "study", label: "Rating study", runs: (all) => all.filter((r) => r.kind === "rating_study"), show: studyTab },
  { id: "trust", label: "Trust", runs: (all) => all, show: trustTab },
];

window.startReport = start;

async function start() {
  const report = JSON.parse(await unpack("document"));
  learnEmoji(report.emoji);
  learnNames(report.runs);
  state = readAddress();
  const app = document.getElementById("app");
  app.append(aboutReport(report), tabList(), ...TABS.map(tabPanel));
  document.getElementById("tools").append(themeSwitch());
  document.getElementById("skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  const show = () => showTab(report);
  watchers.push(show);
  watchAddress();
  show();
  preparePrint(report);
  if (await drawsNothing(report.emoji.strings)) takeSystemEmoji(app);
}

function aboutReport(report) {
  const lines = [
    report.texts === false ? "Texts of posts and replies were left out of this file." : null,
    report.missing_emoji?.length
      ? `Not in the emoji font, shown by this computer's own: ${report.missing_emoji.map((m) => m.name || m.points || m).join(", ")}.`
      : null,
  ];
  return sentences(lines, "alerts") || document.createDocumentFragment();
}

function tabList() {
  return el(
    "div",
    { role: "tablist", "aria-label": "Parts of the report", class: "tabs", on: { keydown: moveTab } },
    TABS.map((tab) =>
      el(
        "button",
        {
          type: "button",
          role: "tab",
          id: `tab-${tab.id}`,
          "aria-controls": `panel-${tab.id}`,
          on: { click: () => choose({ tab: tab.id }) },
        },
        tab.label,
      ),
    ),
  );
}

function tabPanel(tab) {
  return el("div", {
    role: "tabpanel",
    id: `panel-${tab.id}`,
    "aria-labelledby": `tab-${tab.id}`,
    tabindex: "0",
    hidden: true,
    class: "panel",
  });
}

/** Arrow keys walk the tabs, as readers expect of a tab list. */
function moveTab(event) {
  const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity };
  if (!(event.key in steps)) return;
  const now = TABS.findIndex((tab) => tab.id === currentTab().id);
  const step = steps[event.key];
  const next = Number.isFinite(step) ? (now + step + TABS.length) % TABS.length : step < 0 ? 0 : TABS.length - 1;
  event.preventDefault();
  choose({ tab: TABS[next].id });
  document.getElementById(`tab-${TABS[next].id}`).focus();
}

function currentTab() {
  return TABS.find((tab) => tab.id === state.tab) || TABS[0];
}

function showTab(report) {
  const current = currentTab();
  for (const tab of TABS) {
    const isCurrent = tab === current;
    const button = document.getElementById(`tab-${tab.id}`);
    button.setAttribute("aria-selected", String(isCurrent));
    button.tabIndex = isCurrent ? 0 : -1;
    document.getElementById(`panel-${tab.id}`).hidden = !isCurrent;
  }
  fillTab(report, current);
}

function fillTab(report, tab) {
  const panel = document.getElementById(`panel-${tab.id}`);
  const runs = tab.runs(report.runs);
  if (tab.id === "items") itemsTab(panel, runs);
  else replaceContent(panel, tab.show(runs));
}

/** Light, dark, or as the system has it. */
function themeSwitch() {
  const root = document.documentElement;
  const words = { auto: "Colours: as the system", light: "Colours: light", dark: "Colours: dark" };
  const order = ["auto", "light", "dark"];
  const button = el("button", { type: "button", class: "small", data: { key: "theme" } });
  const apply = (theme) => {
    root.dataset.theme = theme;
    button.textContent = words[theme];
    try {
      localStorage.setItem("mojimeter-theme", theme);
    } catch {
      // storage can be closed to files; the choice then lasts as long as the page
    }
    redrawCharts();
  };
  button.addEventListener("click", () => apply(order[(order.indexOf(root.dataset.theme) + 1) % order.length]));
  apply(order.includes(root.dataset.theme) ? root.dataset.theme : "auto");
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawCharts);
  return button;
}

/** Print shows all tabs: those not yet looked at are filled first; runs shown live are left out of the plain tables. */
function preparePrint(report) {
  const prepare = () => {
    const live = new Set(report.runs.filter((run) => run.kind === "judge").map((run) => run.id)); // Trust shows them whole
    for (const tab of TABS) {
      const run = chosenRun(tab.runs(report.runs));
      if ((tab.id === "leaderboard" || tab.id === "study") && run) live.add(run.id);
      if (tab !== currentTab()) fillTab(report, tab);
    }
    for (const section of document.querySelectorAll(".plain-run"))
      section.classList.toggle("live", live.has(section.dataset.run));
    drawForPaper();
  };
  addEventListener("beforeprint", prepare);
  addEventListener("afterprint", redrawCharts);
  matchMedia("print").addEventListener("change", (event) => (event.matches ? prepare() : redrawCharts()));
  loadLibraries().catch(() => {}); // once printing has begun it is too late to unpack them
}
