import type { AddressChange } from "../address";
import type { ZoomRange } from "../chart";

/** How the charts of the Run page are shown: hidden series, logarithmic axes, the rounds in view. */
export class ChartChoices {
  readonly hidden = new Set<string>();
  readonly log = new Set<string>(); // names of charts, or "rounds"
  zoom: ZoomRange | null = null; // rounds, counted from 1
  private listeners: (() => void)[] = [];

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }

  toggleHidden(name: string): void {
    toggle(this.hidden, name);
    this.changed();
  }

  toggleLog(name: string): void {
    toggle(this.log, name);
    this.changed();
  }

  setZoom(range: ZoomRange | null): void {
    const rounds = range && [Math.max(1, Math.round(range[0])), Math.round(range[1])] as ZoomRange;
    this.zoom = rounds && rounds[1] > rounds[0] ? rounds : null;
    this.changed();
  }

  address(): AddressChange {
    const list = (names: Set<string>) => (names.size ? [...names].sort().join(",") : null);
    return { hide: list(this.hidden), log: list(this.log), zoom: this.zoom?.join("-") ?? null };
  }

  restore(parameters: URLSearchParams): void {
    const fill = (names: Set<string>, text: string | null) => {
      names.clear();
      for (const name of text?.split(",").filter(Boolean) ?? []) names.add(name);
    };
    fill(this.hidden, parameters.get("hide"));
    fill(this.log, parameters.get("log"));
    const [from, to] = /^(\d+)-(\d+)$/.exec(parameters.get("zoom") ?? "")?.slice(1).map(Number) ?? [];
    this.setZoom(from && to ? [from, to] : null);
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

function toggle(names: Set<string>, name: string): void {
  if (!names.delete(name)) names.add(name);
}
