import { api } from "./api";
import { button, clear, h, icon } from "./dom";
import { CompareView } from "./compare/view";
import { PlanView } from "./plan/view";
import { RunView } from "./run/view";
import "./style.css";
import { isDark, onTheme, startTheme, toggleTheme } from "./theme";

interface View {
  element: HTMLElement;
  start?: () => Promise<void>;
  shown?: () => void;
  hidden?: () => void;
}

const TABS = ["plan", "run", "compare"] as const;
type Tab = (typeof TABS)[number];

startTheme();
const plan = new PlanView();
const run = new RunView(() => plan.scenarioText());
const compare = new CompareView();
const views: Record<Tab, View> = { plan, run, compare };
const main = document.getElementById("main")!;
const started = new Set<Tab>();
let current: Tab | null = null;

function tabOf(hash: string): Tab {
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

function top(): void {
  const theme = button("Light or dark", toggleTheme, { quiet: true, icon: isDark() ? "sun" : "moon", class: "theme" });
  onTheme(() => clear(theme, icon(isDark() ? "sun" : "moon") as unknown as Node));
  const where = h("span", { class: "where" });
  void api.about().then((about) => {
    clear(where, h("bdi", {}, about.runs_dir));
    where.title = `Runs in ${about.runs_dir}; scdn ${about.version}`;
  }).catch(() => {});
  clear(document.getElementById("top")!,
    h("span", { class: "brand" }, h("b", {}, "scdn"), " studio"),
    h("nav", { "aria-label": "Views" }, ...TABS.map((tab) =>
      h("a", { href: `#${tab}` }, tab[0]!.toUpperCase() + tab.slice(1)))),
    where, theme);
}

top();
for (const view of Object.values(views)) main.append(view.element);
addEventListener("hashchange", () => show(tabOf(location.hash)));
show(tabOf(location.hash));

// For those who measure: benchmarks and tests look here.
Object.assign(window, { studio: { plan, run, compare } });
