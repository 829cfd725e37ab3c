/** Helpers that create and change DOM elements. */

import type { Fault } from "./types";

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, unknown>;

/** Creates an element: `on…` keys are listeners, booleans toggle an attribute, the rest are attributes. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K, attributes: Attributes = {}, ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value as EventListener);
    else if (typeof value === "boolean") element.toggleAttribute(key, value);
    else if (value !== undefined && value !== null) element.setAttribute(key, String(value));
  }
  element.append(...(children.filter((child) => child || child === "") as (Node | string)[]));
  return element;
}

export function setChildren(element: Element, ...children: Child[]): void {
  element.replaceChildren(...(children.filter(Boolean) as (Node | string)[]));
}

/** Sets text only where it changes, so that tables are cheap to update during a drag. */
export function setText(element: Element, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

export function svg(tag: string, attributes: Record<string, string | number> = {},
  ...children: (Node | string)[]): SVGElement {
  const element = document.createElementNS(SVG_NAMESPACE, tag);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

const ICON_PATHS: Record<string, string> = {
  play: "M4 2.5v11l9-5.5z",
  pause: "M4 2.5h3v11H4zM9 2.5h3v11H9z",
  stop: "M3.5 3.5h9v9h-9z",
  plus: "M8 3v10M3 8h10",
  cross: "M4 4l8 8M12 4l-8 8",
  moon: "M13 9.5A5.5 5.5 0 1 1 6.5 3 4.5 4.5 0 0 0 13 9.5z",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v2M8 13v2M1 8h2M13 8h2M3 3l1.4 1.4M11.6 11.6L13 13M13 3l-1.4 1.4M4.4 11.6L3 13",
  down: "M4 6l4 4 4-4",
  open: "M2 12.5V4h4l1.5 1.5H14v7z",
  save: "M8 2v8M4.5 7L8 10.5 11.5 7M3 13.5h10",
  copy: "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3",
  home: "M2.5 8L8 3l5.5 5M4 7v6h8V7",
  updown: "M8 2v12M5 5l3-3 3 3M5 11l3 3 3-3",
  undo: "M6 3L3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H6",
  redo: "M10 3l3 3-3 3M13 6H6.5a3.5 3.5 0 0 0 0 7H10",
  again: "M13 8a5 5 0 1 1-1.5-3.5M13 2v3h-3",
};

export function icon(name: string): SVGElement {
  const filled = ["play", "pause", "stop", "moon"].includes(name);
  return svg("svg", { viewBox: "0 0 16 16", class: filled ? "icon filled" : "icon",
    "aria-hidden": "true" }, svg("path", { d: ICON_PATHS[name] ?? "" }));
}

export function button(label: string, onPress: () => void, options: Attributes & {
  icon?: string; quiet?: boolean } = {}): HTMLButtonElement {
  const { icon: name, quiet, ...attributes } = options;
  const caption = quiet ? null : h("span", {}, label);
  return h("button", { type: "button", title: label, "aria-label": label, onclick: onPress,
    ...attributes }, name ? icon(name) : null, caption);
}

/** Shows a message that disappears by itself. */
export function toast(text: string, kind: "note" | "fault" = "note"): void {
  const message = h("div", { class: `toast ${kind}` }, text);
  document.getElementById("toasts")?.append(message);
  setTimeout(() => message.remove(), kind === "fault" ? 9000 : 3500);
}

export function download(name: string, text: string, type: string): void {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export function pickFile(accept: string, onFile: (name: string, text: string) => void): void {
  const input = h("input", { type: "file", accept });
  input.addEventListener("change", async () => {
    const file = input.files?.[0];
    if (file) onFile(file.name, await file.text());
  });
  input.click();
}

/** A message in place of content that is missing, loading or broken. */
export function statusMessage(kind: "empty" | "loading" | "error", title: string, text = "",
  ...more: Child[]): HTMLElement {
  return h("div", { class: `state ${kind}`, role: kind === "error" ? "alert" : "status" },
    h("div", { class: "mark", "aria-hidden": "true" }), h("h2", {}, title),
    text ? h("p", {}, text) : null, ...more);
}

export function collapsible(title: string, open: boolean, ...children: HTMLElement[]): HTMLElement {
  return h("details", { open }, h("summary", {}, title, icon("down")), h("div", { class: "inside" }, ...children));
}

export function faultList(faults: Fault[], limit: number): HTMLElement[] {
  return faults.slice(0, limit).map((fault) => h("li", {}, h("code", {}, fault.field), ` ${fault.found}; ${fault.allowed}`));
}
