/** Light or dark, and the palette's colours for what is not drawn by the style sheet. */

export type Name = "ink" | "muted" | "faint" | "grid" | "paper" | "page" | "server" | "device"
  | "good" | "danger" | "low" | "high" | "box" | "candidate" | "shade" | "ground";

const listeners = new Set<() => void>();

export const colour = (name: string): string =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

export const isDark = (): boolean => {
  const told = document.documentElement.dataset.theme;
  return told ? told === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
};

export function onTheme(listener: () => void): void {
  listeners.add(listener);
}

export function startTheme(): void {
  const kept = localStorage.getItem("theme");
  if (kept) document.documentElement.dataset.theme = kept;
  const query = matchMedia("(prefers-color-scheme: dark)");
  query.addEventListener("change", () => listeners.forEach((listener) => listener()));
}

export function toggleTheme(): void {
  const next = isDark() ? "light" : "dark";
  document.documentElement.dataset.theme = next;
  localStorage.setItem("theme", next);
  listeners.forEach((listener) => listener());
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

/** Between two colours of the palette, for numbers in [0, 1]. */
export function ramp(from: string, to: string, part: number): string {
  const [a, b] = [from, to].map((hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16)));
  const mixed = a!.map((value, index) => Math.round(value + (b![index]! - value) * part));
  return `rgb(${mixed.join(",")})`;
}
