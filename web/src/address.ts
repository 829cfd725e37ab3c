/** What the page shows, kept in its address, such as `#run?run=demo/sc-dn/seed-0&round=12`. */

export const VIEWS = ["introduction", "plan", "run", "compare"] as const;
export type ViewName = (typeof VIEWS)[number];

export interface Address {
  view: ViewName | null; // null: the address names none
  parameters: URLSearchParams;
}

/** Values that a view puts into the address; null removes one. */
export type AddressChange = Record<string, string | null>;

const remembered = new Map<ViewName, URLSearchParams>(); // so that a view is found as it was left
let shown: ViewName | null = null;

export function readAddress(): Address {
  const [name, query = ""] = location.hash.replace(/^#/, "").split("?");
  const view = VIEWS.find((known) => known === name) ?? null;
  return { view, parameters: new URLSearchParams(query) };
}

/** Names the view that is shown. Its parameters are those of the address, or else those it had before. */
export function enterView(view: ViewName, parameters: URLSearchParams): URLSearchParams {
  shown = view;
  const current = parameters.size ? parameters : remembered.get(view) ?? parameters;
  remembered.set(view, current);
  writeAddress(view, current, false);
  return current;
}

/** Changes parameters of a view; `step` adds an entry to the browser's history, so that Back returns to the one before. */
export function updateAddress(view: ViewName, change: AddressChange, step = false): void {
  const parameters = new URLSearchParams(remembered.get(view));
  for (const [key, value] of Object.entries(change)) {
    if (value === null) parameters.delete(key);
    else parameters.set(key, value);
  }
  remembered.set(view, parameters);
  if (view === shown) writeAddress(view, parameters, step);
}

function writeAddress(view: ViewName, parameters: URLSearchParams, step: boolean): void {
  const query = parameters.toString().replaceAll("%2F", "/").replaceAll("%2C", ",").replaceAll("%3D", "=").replaceAll("%3A", ":");
  const hash = `#${view}${query ? `?${query}` : ""}`;
  if (hash === location.hash) return;
  if (step) history.pushState(null, "", hash);
  else history.replaceState(null, "", hash);
}
