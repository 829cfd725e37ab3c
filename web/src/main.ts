import { api } from "./api";
import { button, h, icon, setChildren } from "./dom";
import { CompareView } from "./compare/compare-view";
import { PlanView } from "./plan/plan-view";
import { RunView } from "./run/run-view";
import * as format from "./format";
import "./style.css";
import { isDark, onThemeChange, initTheme, toggleTheme } from "./theme";

interface View {
  element: HTMLElement;
  start?: () => Promise<void>;
  shown?: () => void;
  hidden?: () => void;
}

const TABS = ["plan", "run", "compare"] as const;
type Tab = (typeof TABS)[number];

initTheme();
const plan = new PlanView();
const run = new RunView(() => plan.scenarioText());
const compare = new CompareView();
const views: Record<Tab, View> = { plan, run, compare };
const main = document.getElementById("main")!;
const about = api.about();
const started = new Set<Tab>();
let current: Tab | null = null;

function tabFromHash(hash: string): Tab {
  const name = hash.replace(/^#/, "").split("/")[0] as Tab;
  return TABS.includes(name) ? name : "plan";
}

function show(tab: Tab): void {
  if (tab === current) return;
  if (current) views[current].hidden?.();
  current = tab;
  for (const name of TABS) {
    views[name].element.hidden = name !== tab;
    const link = document.querySelector(`nav a[href="#${name}"]`);
    link?.setAttribute("aria-current", name === tab ? "page" : "false");
  }
  document.title = `${tab[0]!.toUpperCase()}${tab.slice(1)} · scdn studio`;
  if (!started.has(tab)) {
    started.add(tab);
    void views[tab].start?.();
  }
  views[tab].shown?.();
}

function buildHeader(): void {
  const theme = button("Switch between light and dark", toggleTheme, { quiet: true, icon: isDark() ? "sun" : "moon", class: "theme" });
  onThemeChange(() => setChildren(theme, icon(isDark() ? "sun" : "moon")));
  const runsFolder = h("span", { class: "runs-folder" });
  void about.then(({ runs_dir, new_runs_dir, opened, version }) => {
    setChildren(runsFolder, h("bdi", {}, opened ? `${runs_dir}/${opened}` : runs_dir));
    runsFolder.title = `New runs are recorded in ${new_runs_dir}; scdn ${version}`;
  }).catch(() => {});
  setChildren(document.getElementById("top")!,
    h("span", { class: "brand" }, h("b", {}, "scdn"), " studio"),
    h("nav", { "aria-label": "Views" }, ...TABS.map((tab) =>
      h("a", { href: `#${tab}` }, tab[0]!.toUpperCase() + tab.slice(1)))),
    runsFolder, theme);
}

buildHeader();
for (const view of Object.values(views)) main.append(view.element);
addEventListener("hashchange", () => show(tabFromHash(location.hash)));
if (location.hash) show(tabFromHash(location.hash));
else void about.then(({ view }) => show(view), () => show("plan"));

// The address names the view, so the skip link must not change it.
document.querySelector("a.skip")!.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

// For tests and benchmarks.
Object.assign(window, { studio: { plan, run, compare, format } });
