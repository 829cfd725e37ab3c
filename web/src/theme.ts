/** Light or dark, and the palette's colours for what is not drawn by the style sheet. */

const listeners = new Set<() => void>();

export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export const isDark = (): boolean => document.documentElement.dataset.theme === "dark";

export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

export function startTheme(): void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => use(localStorage.getItem("theme") ?? (system.matches ? "dark" : "light"));
  system.addEventListener("change", follow);
  follow();
}

function use(theme: string): void {
  document.documentElement.dataset.theme = theme;
  listeners.forEach((listener) => listener());
}

export function toggleTheme(): void {
  const next = isDark() ? "light" : "dark";
  localStorage.setItem("theme", next);
  use(next);
}

const LOOKS = 8;

/** A colour for each method; a matched one has its base's colour, and is drawn dotted. */
export function looks(methods: readonly string[]): Map<string, { colour: string; matched: boolean }> {
  const base = (method: string) => method.replace(/-matched$/, "");
  const bases = [...new Set(methods.map(base))];
  return new Map(methods.map((method) => [method, {
    colour: colour(`method${bases.indexOf(base(method)) % LOOKS}`),
    matched: method.endsWith("-matched"),
  }]));
}
