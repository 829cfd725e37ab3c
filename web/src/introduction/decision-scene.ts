import { h } from "../dom";
import { digits } from "../format";
import type { Plan, RestingDevice, Term } from "../types";
import { bars } from "./bars";
import { metres, numberWord } from "./devices-scene";
import { NetworkMap } from "./network-map";
import type { Scene } from "./scene";
import { flightLength, heard, mostIterations } from "./story";
import type { Story } from "./story";

const range = (values: number[], text: (value: number) => string): string => {
  const [low, high] = [text(Math.min(...values)), text(Math.max(...values))];
  return low === high ? low : `${low} to ${high}`;
};
const inMilliwatts = (value: number): string => String(Number((1000 * value).toPrecision(2)));
const milliwatts = (value: number): string => `${inMilliwatts(value)} mW`;
const kilojoules = (value: number): string => `${digits(value / 1000, 2)} kJ`;

/** Scene 2: what the server decides, why, and what it would cost to decide otherwise. */
export function decisionScene(story: Story): Scene {
  const { plan } = story;
  return {
    name: "The server decides", title: "Every round, the server decides four things", picture: decisionMap(story),
    words: [decisionTable(story), ...costs(story),
      h("p", { class: "source" }, `Computed just now for round 1; the exact solver proves that no plan is more than ${digits(100 * Math.max(plan.gap ?? 0, 1e-4), 1)} % cheaper. ` +
        "The penalty is an estimate from theory, with a weight that you set.")],
  };
}

function decisionMap({ request, plan }: Story): HTMLElement {
  const planned = new Map(plan.devices.map((device) => [device.id, device]));
  const map = new NetworkMap();
  map.show({
    about: `The UAV has flown to a place where it hears ${heard(plan)} of ${plan.devices.length} devices; links show the power that each needs`,
    region: request.region_m,
    devices: request.devices.map((device) => {
      const { active, power_w } = planned.get(device.id)!;
      return { id: device.id, position: device.position_m, state: active ? "present" : "unheard",
        note: active ? milliwatts(power_w) : "rests", always: true, load: active ? power_w / device.max_power_w : undefined };
    }),
    server: { position: plan.server.position_m, note: "planned place" },
    before: { position: request.server.position_m, note: "start" },
    caption: "darker link: more power", path: plan.server.path_m, rock: request.keep_out_m.at(-1),
  });
  return map.element;
}

function decisionTable({ request, plan, stay, unheard }: Story): HTMLElement {
  const active = plan.devices.filter((device) => device.active);
  const total = plan.devices.length;
  const { compute_deadline_s } = request.learning as Record<string, number>;
  const most = Math.max(...active.map((device) => device.iterations));
  const fewer = active.filter((device) => device.iterations < most);
  const limits = new Map(request.devices.map((device) => [device.id, mostIterations(request, device)]));
  const tooSlow = fewer.every((device) => device.iterations === limits.get(device.id));
  const [furthest, needed] = mostPower(unheard);
  const rows: [string, string, string][] = [
    ["Place", `fly ${metres(flightLength(plan))}`,
      `There it hears ${heard(plan) === total ? "all" : ""} ${heard(plan)} devices, from its start only ${heard(stay)}: ` +
      `${furthest} would need ${milliwatts(needed)}, but has ${milliwatts(request.devices[0]!.max_power_w)}.`],
    ["Power", `${range(active.map((device) => device.power_w), inMilliwatts)} mW`, `The least with which a report arrives in ${digits(request.max_delay_s, 1)} s.`],
    ["Clock", `${range(active.map((device) => device.cpu_hz), (clock) => String(Math.round(clock / 1e6)))} MHz`, `The slowest that is ready in ${digits(compute_deadline_s!, 1)} s: a slow clock saves energy.`],
    ["Iterations", range(active.map((device) => device.iterations), String),
      `More would cost more than it teaches, or take too long${fewer.length && tooSlow ? `: ${fewer.map((device) => device.id).join(", ")} is too slow for ${most}` : ""}.`],
  ];
  return h("table", { class: "decisions" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Decision"), h("th", { scope: "col" }, "Now"), h("th", { scope: "col" }, "Why"))),
    h("tbody", {}, ...rows.map(([name, value, why]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, h("b", {}, value)), h("td", {}, why)))));
}

/** The device that would need the most power to be heard, and how much. */
function mostPower(unheard: RestingDevice[]): [string, number] {
  const needed = unheard.flatMap(({ id, changes }) => changes.filter(({ setting }) => setting === "max_power_w")
    .map(({ value }): [string, number] => [id, value]));
  return needed.reduce((most, other) => (other[1] > most[1] ? other : most), ["", 0]);
}

/** The cost of the plan beside those of other plans that keep their limits. */
function costs({ request, plan, stay, gsp }: Story): HTMLElement[] {
  const parts = ({ weighted }: Plan) => (["movement", "transmission", "processing", "convergence"] as Term[]).map((term) =>
    ({ value: weighted[term], kind: term === "convergence" ? "lost" : term === "movement" ? "flight" : "devices" }));
  const row = (label: string, note: string, other: Plan) => ({ label, note, parts: parts(other), best: other === plan,
    text: other === plan ? digits(other.objective) : `${digits(other.objective)} (+${digits(100 * (other.objective / plan.objective - 1), 2)} %)` });
  const valid = [plan, gsp, stay].filter((other) => !other.violations.length);
  const next = valid.slice(1).reduce((best, other) => (other.objective < best.objective ? other : best));
  const extra = plan.terms.movement_j! - stay.terms.movement_j!;
  const names = new Map([[plan, ["This plan", "sc-dn, "]], [gsp, ["Best average link", "GSP, "]], [stay, ["Stay at the start", ""]]]);
  const rows = valid.map((other) => row(names.get(other)![0]!, `${names.get(other)![1]}hears ${heard(other)}`, other));
  return [
    h("h2", {}, `This round, by an estimate: cost ${digits(plan.objective)} (lower is better), next best ${digits(next.objective)}`),
    h("p", { class: "cost-meaning" }, `Cost = joules (the UAV's count 1/${digits(1 / request.weights.movement, 2)}) + a penalty for what is not learned. Whole runs may judge otherwise: scene 4 shows what they took.`),
    bars("Cost of the round by plan", rows),
    h("p", { class: "keys" }, "This plan:", key("flight", `flying and hovering ${digits(plan.weighted.movement)}`),
      key("devices", `sending and computing ${digits(plan.weighted.transmission + plan.weighted.processing, 2)}`),
      key("lost", `not learned ${digits(plan.weighted.convergence, 2)}`)),
    h("p", {}, `Flying costs ${kilojoules(extra)} more than staying, but ${numberWord(heard(plan) - heard(stay))} more devices teach the model.`),
  ];
}

const key = (kind: string, text: string): HTMLElement => h("span", { class: "bar-key" }, h("i", { class: kind }), text);
