import { readAddress, updateAddress } from "../address";
import type { ViewName } from "../address";
import type { Viewport } from "./viewport";

/** Shows the camera that an address names. */
export function showCamera(viewport: Viewport, parameters: URLSearchParams): void {
  viewport.setTop(parameters.get("view") === "top");
  viewport.setCamera(parameters.get("camera"));
}

/** Keeps a view's camera in the address, and takes it from there. */
export function keepCamera(viewport: Viewport, view: ViewName): void {
  const take = () => {
    const address = readAddress();
    if (address.view === view && address.parameters.size) showCamera(viewport, address.parameters);
  };
  take();
  addEventListener("hashchange", take);
  viewport.onCamera(() => updateAddress(view, { view: viewport.top ? "top" : null, camera: viewport.cameraText() }));
}
