import { h } from "../dom";
import { digits } from "../format";
import { capital, numberWord } from "./devices-scene";
import { figures } from "./figures";
import { NetworkMap } from "./network-map";
import type { Scene } from "./scene";
import { ScoreChart } from "./score-chart";

const change = (before: number, after: number): string => (score(before) === score(after) ? `stays at ${score(after)}` : `goes from ${score(before)} to ${score(after)}`);
const points = (value: number): string => `${value > 0 ? "+" : ""}${digits(value, 1)}`;
const score = (value: number): string => `${value.toFixed(1)} %`;
const list = (names: string[]): string => (names.length < 2 ? names.join("") : `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`);

/** Scene 3: devices leave, and what they sent stays; from two recorded runs of the same network. */
export function departureScene(): Scene {
  const { kept, kept_future, forgotten, exited, fire, runs, mean_change } = figures.departure;
  const at = fire.round;
  const lost = exited[at]!;
  const before = exited.slice(0, at).flat().sort();
  return {
    name: "A device leaves", title: `A fire takes ${numberWord(lost.length)} sensors. What they have sent stays.`, picture: departureMap(),
    words: [
      h("p", {}, `The server keeps the embeddings of devices that leave, and goes on learning from them. When ${list(lost)} burn, top-3 accuracy `,
        h("b", {}, change(kept[at - 1]!, kept[at]!)), "; a server that forgets them ", h("b", {}, `falls from ${score(forgotten[at - 1]!)} to ${score(forgotten[at]!)}`), "."),
      curves().element,
      h("p", {}, `Lost sensors see no new events: for these the server estimates their part, and the right answer is still among its first three guesses in ${score(kept_future[at]!)}.`),
      h("p", {}, `${capital(list(before))} were lost in earlier rounds. The devices named ranger joined later: rangers placed them along the road.`),
      h("p", { class: "source" }, "Top-3 accuracy: the right answer is among the model's first three guesses. Two recorded runs that differ only in what the server keeps. " +
        `This fire is a strong case: on average over ${runs} pairs of runs, accuracy changes by ${points(mean_change.kept)} points when devices leave if their embeddings are kept, and by ${points(mean_change.forgotten)} if they are forgotten.`),
    ],
  };
}

function departureMap(): HTMLElement {
  const { devices, exited, fire, server_m, region_m } = figures.departure;
  const lost = exited[fire.round]!;
  const map = new NetworkMap();
  map.show({
    about: `The network in round ${fire.round + 1}: a fire in the south-east takes ${lost.length} sensors`, region: region_m,
    devices: devices.map(({ id, position_m }) => ({ id, position: position_m, state: lost.includes(id) ? "departed" : "present", load: lost.includes(id) ? undefined : 0.3 })),
    server: { position: server_m, note: "UAV with the server" },
    fire: { centre: fire.centre_m, radius: fire.radius_m, note: `fire in round ${fire.round + 1}` }, caption: "crossed out: lost, but its embeddings stay",
  });
  return map.element;
}

function curves(): ScoreChart {
  const { kept, kept_future, forgotten, exited, fire } = figures.departure;
  const leaving = exited.flatMap((names, round) => (names.length ? [{ round, count: names.length }] : []));
  return new ScoreChart({
    about: "Top-3 accuracy over the rounds: kept embeddings hold it, forgotten ones make it fall at each departure",
    low: 90, high: 99, step: 3,
    lines: [
      { kind: "future", values: kept_future, name: "kept, new events", nameAt: [29, 96.2], anchor: "end" },
      { kind: "forgotten", values: forgotten, name: "forgotten", nameAt: [fire.round + 0.5, 91] },
      { kind: "kept", values: kept, name: "embeddings kept", nameAt: [29, 98.6], anchor: "end" },
    ],
    marks: leaving.map(({ round, count }) => ({ round, text: round === fire.round ? `${count}: fire` : String(count), strong: round === fire.round })),
  });
}
