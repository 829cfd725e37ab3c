/** The light and dark theme, and its colours for charts and the 3-D scene. */

const listeners = new Set<() => void>();

export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export const isDark = (): boolean => document.documentElement.dataset.theme === "dark";

export function onThemeChange(listener: () => void): void {
  listeners.add(listener);
}

export function initTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => applyTheme(localStorage.getItem("theme") ?? (system.matches ? "dark" : "light"));
  system.addEventListener("change", follow);
  follow();
}

function applyTheme(theme: string): void {
  document.documentElement.dataset.theme = theme;
  listeners.forEach((listener) => listener());
}

export function toggleTheme(): void {
  const next = isDark() ? "light" : "dark";
  localStorage.setItem("theme", next);
  applyTheme(next);
}

const METHOD_COLOURS = 8;

/** A colour for each method, as in report/theme.py; `gsp-matched` has the colour of `gsp` and is drawn dotted. */
export function methodStyles(methods: readonly string[]): Map<string, { colour: string; matched: boolean }> {
  const full = (method: string) => method.replace(/-matched$/, "");
  const crowded = new Set(methods.map(full)).size > METHOD_COLOURS; // variants then share a colour
  const base = crowded ? (method: string) => full(method).split(", ")[0]! : full;
  const bases = [...new Set(methods.map(base))];
  return new Map(methods.map((method) => [method, {
    colour: colour(`method${bases.indexOf(base(method)) % METHOD_COLOURS}`),
    matched: method.endsWith("-matched"),
  }]));
}
