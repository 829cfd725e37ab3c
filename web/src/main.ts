import { enterView, readAddress, VIEWS } from "./address";
import type { ViewName } from "./address";
import { api } from "./api";
import { button, h, icon, setChildren } from "./dom";
import { CompareView } from "./compare/compare-view";
import { IntroductionView, wasIntroduced } from "./introduction/introduction-view";
import { PlanView } from "./plan/plan-view";
import { RunView } from "./run/run-view";
import * as format from "./format";
import "./style.css";
import type { PlanRequest } from "./types";
import { isDark, onThemeChange, initTheme, toggleTheme } from "./theme";

interface View {
  element: HTMLElement;
  start?: () => Promise<void>;
  shown?: () => void;
  hidden?: () => void;
  /** Shows what the address says, after `start` and whenever the address is changed by hand, by a link or by Back. */
  restore?: (parameters: URLSearchParams) => void;
}

initTheme();
const plan = new PlanView();
const run = new RunView(() => plan.scenarioText());
const compare = new CompareView();
const introduction = new IntroductionView({ planByHand, startRun });
const views: Record<ViewName, View> = { introduction, plan, run, compare };
const main = document.getElementById("main")!;
const about = api.about();
const starting = new Map<ViewName, Promise<void>>();
let current: ViewName | null = null;

function show(name: ViewName, parameters: URLSearchParams): void {
  const restored = enterView(name, parameters);
  if (name !== current) switchTo(name);
  void starting.get(name)!.then(() => { if (current === name) views[name].restore?.(restored); });
}

function switchTo(name: ViewName): void {
  if (current) views[current].hidden?.();
  const leaving = main.contains(document.activeElement);
  current = name;
  for (const other of VIEWS) {
    views[other].element.hidden = other !== name;
    const link = document.querySelector(`nav a[href="#${other}"]`);
    link?.setAttribute("aria-current", other === name ? "page" : "false");
  }
  if (leaving) main.focus(); // not lost with the view that is hidden now
  document.title = `${title(name)} · scdn studio`;
  if (!starting.has(name)) starting.set(name, views[name].start?.() ?? Promise.resolve());
  views[name].shown?.();
}

const title = (name: ViewName): string => name[0]!.toUpperCase() + name.slice(1);

function showAddress(): void {
  const { view, parameters } = readAddress();
  if (view) show(view, parameters);
  else void about.then((info) => show(info.view === "introduction" && wasIntroduced() ? "plan" : info.view, parameters), () => show("plan", parameters));
}

async function planByHand(request: PlanRequest): Promise<void> {
  location.hash = "plan";
  show("plan", new URLSearchParams());
  await starting.get("plan");
  await plan.open("wildfire.json", JSON.stringify(request));
}

function startRun(example: string): void {
  location.hash = "run";
  show("run", new URLSearchParams());
  void run.openDialog(example);
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
    h("nav", { "aria-label": "Views" }, ...VIEWS.map((name) =>
      h("a", { href: `#${name}` }, title(name)))),
    runsFolder, theme);
}

buildHeader();
for (const view of Object.values(views)) main.append(view.element);
addEventListener("hashchange", showAddress);
showAddress();

// The address names the view, so the skip link must not change it.
document.querySelector("a.skip")!.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});

// For tests and benchmarks.
Object.assign(window, { studio: { introduction, plan, run, compare, format } });
