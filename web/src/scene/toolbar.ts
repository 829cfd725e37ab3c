import { button, h } from "../dom";
import type { Viewport } from "./viewport";

/** Adds a toolbar over the scene: the whole region, and from above or in 3-D. */
export function toolbar(viewport: Viewport): HTMLElement {
  const reset = button("Show the whole region", () => viewport.resetCamera(), { icon: "home", quiet: true, title: "Show the whole region (Home)" });
  const top = h("button", { type: "button", "aria-label": "Top view", onclick: () => viewport.setTop(!viewport.top) }, "Top");
  const follow = () => {
    top.setAttribute("aria-pressed", String(viewport.top));
    top.title = viewport.top ? "Show in 3-D (T)" : "Show from above (T)";
  };
  viewport.onCamera(follow);
  follow();
  const bar = h("div", { class: "tools" }, reset, top);
  viewport.host.append(bar);
  viewport.labels.avoid(bar);
  return bar;
}
