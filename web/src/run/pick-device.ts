import type { NetworkState } from "../scene/network-scene";
import type { Viewport } from "../scene/viewport";

const RADIUS_PX: Record<string, number> = { mouse: 16, touch: 30, pen: 20 };
const CLICK_PX = 4; // a pointer that moves further turns the camera

/** Calls `pick` with the device that is clicked in the scene, or null for a click beside all of them. */
export function onDeviceClick(viewport: Viewport, state: () => NetworkState, pick: (id: string | null) => void): void {
  let pressed: { x: number; y: number } | null = null;
  viewport.canvas.addEventListener("pointerdown", (event) => { pressed = event.button === 0 ? { x: event.clientX, y: event.clientY } : null; }, { capture: true });
  viewport.canvas.addEventListener("pointerup", (event) => {
    if (!pressed || Math.hypot(event.clientX - pressed.x, event.clientY - pressed.y) > CLICK_PX) return;
    const box = viewport.canvas.getBoundingClientRect();
    let [least, nearest]: [number, string | null] = [RADIUS_PX[event.pointerType] ?? 16, null];
    for (const { id, position } of state().devices) {
      const at = viewport.toScreen(position);
      const distance = at ? Math.hypot(at.x - (event.clientX - box.left), at.y - (event.clientY - box.top)) : Infinity;
      if (distance < least) [least, nearest] = [distance, id];
    }
    pick(nearest);
  });
}
