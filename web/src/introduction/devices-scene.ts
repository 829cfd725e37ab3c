import { h } from "../dom";
import { digits } from "../format";
import type { Device } from "../types";
import { figures } from "./figures";
import { NetworkMap } from "./network-map";
import type { Scene } from "./scene";
import { distance, mostIterations } from "./story";
import type { Story } from "./story";

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];
export const numberWord = (count: number): string => NUMBERS[count] ?? String(count);
export const capital = (text: string): string => text[0]!.toUpperCase() + text.slice(1);

/** A distance as people say it: 93 m, 1.2 km. */
export const metres = (value: number): string => (value < 999.5 ? `${digits(value, 2)} m` : `${digits(value / 1000, 2)} km`);

/** Scene 1: what vertical federated learning is, and how devices differ. */
export function devicesScene({ request }: Story): Scene {
  const { devices, server } = request;
  const far = (device: Device) => distance(device.position_m, server.position_m);
  const leaves = (device: Device) => Number(device.wall_loss_db ?? 0);
  const steps = devices.map((device) => mostIterations(request, device));
  const byLeaves = [...devices].sort((one, other) => leaves(other) - leaves(one));
  const byDistance = [...devices].sort((one, other) => far(one) - far(other));
  const slowest = devices[steps.indexOf(Math.min(...steps))]!;
  const { fire } = figures.departure;
  const note = (device: Device): string => {
    if (device === slowest) return `slowest: can do ${Math.min(...steps)} iterations`;
    if (device === byLeaves[0]) return `most leaves: ${digits(leaves(device), 1)} dB`;
    return `${metres(far(device))} away`;
  };
  const map = new NetworkMap();
  map.show({
    about: `${devices.length} devices in a forest, seen from above, with their distances from the UAV`, region: request.region_m,
    devices: devices.map((device) => ({ id: device.id, position: device.position_m, state: "present", note: note(device),
      always: [slowest, byLeaves[0], byDistance[0], byDistance.at(-1)].includes(device) })),
    server: { position: server.position_m, note: "UAV (drone) with the server" },
    fire: { centre: fire.centre_m, radius: fire.radius_m, note: `fire in round ${fire.round + 1}` },
  });
  return {
    name: "Devices differ", title: `${capital(numberWord(devices.length))} devices watch a forest. Each sees a different part.`, picture: map.element,
    words: [
      h("p", { class: "purpose" }, "scdn, this program, trains one model from all of them to recognise what happens, with as little energy and time as it can, and keeps it working when devices are lost."),
      h("p", {}, "Each device measures different features of the same events, keeps them to itself, and sends the server on the UAV only short codes, ",
        h("b", {}, "embeddings"), ": this is ", h("b", {}, "vertical federated learning"), "."),
      tableOfFeatures(devices.map((device) => device.id)),
      h("p", {}, `The devices differ: they are ${metres(far(byDistance[0]!))} to ${metres(far(byDistance.at(-1)!))} from the UAV, ` +
        `behind leaves that take up to ${digits(leaves(byLeaves[0]!), 1)} dB of the signal, can do ${Math.min(...steps)} to ${Math.max(...steps)} training iterations a round, ` +
        "and some will burn."),
      h("p", { class: "source" }, "An example: handwritten digits (MNIST), split between the devices, stand in for what real sensors would measure."),
    ],
  };
}

/** The same events in rows; each device has a column of its own; together they give one model. */
function tableOfFeatures(ids: string[]): HTMLElement {
  const short = (id: string) => id.replace(/^(.).*-(\d+)$/, "$1$2");
  const events = [1, 2, 3];
  return h("figure", { class: "feature-table", role: "img",
    "aria-label": "A table: the same events in rows, and each device has a column of its own; together they train one model" },
  h("div", { class: "features" }, h("span", { class: "feature-caption" }, "Columns: what each device measures"),
    h("span", {}), ...ids.map((id) => h("span", { class: "feature-head" }, short(id))),
    ...events.flatMap((event) => [h("span", {}, `event ${event}`), ...ids.map((_, column) => h("i", { class: `tint${column % 3}` }))])),
  h("span", { class: "feature-arrow" }, "→"), h("span", { class: "feature-model" }, "one model"));
}
