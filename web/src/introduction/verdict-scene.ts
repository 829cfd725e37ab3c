import { h } from "../dom";
import { digits } from "../format";
import { bars } from "./bars";
import { capital } from "./devices-scene";
import { cheapest, figures } from "./figures";
import type { MethodCost } from "./figures";
import type { Scene } from "./scene";
import { heard } from "./story";
import type { Story } from "./story";

const ABOUT: Record<string, string> = {
  mission: "measures learning, and plans for a target",
  "sc-dn": "plans as in scene 2: estimates learning by theory",
  "max-vfl": "stays; all devices at full power and clock",
  gsp: "flies to the best average link",
  vafl: "asynchronous: waits for no device",
};

const energy = (joules: number): string => (joules >= 1000 ? `${digits(joules / 1000)} kJ` : `${digits(joules, 2)} J`);
const time = (seconds: number): string => `${Math.round(seconds)} s`;
const costOf = (cost: MethodCost): string => `${energy(cost.joules!)} and ${time(cost.seconds!)}` +
  (cost.reached < cost.runs ? ` (${cost.reached} of ${cost.runs} runs reach it)` : "");

/** The verdict: which method to choose, at what cost, and when another one. */
export function verdictScene(story: Story | null): Scene {
  const costs = [...figures.networks.wildfire["top3=97"]].sort((one, other) => (one.joules ?? Infinity) - (other.joules ?? Infinity));
  const best = costs[0]!;
  const close = aboutAsGood(best.method).map((cost) => cost.method);
  return {
    name: "Which method", title: `Here, choose ${best.method}${close.length ? `; ${close.join(" and ")} ${close.length > 1 ? "are" : "is"} close` : ""}`,
    picture: h("div", { class: "method-costs" }, h("h2", {}, "Energy and time until 97 % top-3 accuracy, lower is better"),
      bars("Energy and time to 97 % by method", costs.map((cost) => ({
        label: cost.method, note: ABOUT[cost.method], best: cost === best, parts: [{ value: cost.joules ?? 0, kind: cost === best ? "chosen" : "other" }],
        text: cost.joules === null ? "most runs never get there" : `${energy(cost.joules)}, ${time(cost.seconds!)}`, detail: `${cost.reached} of ${cost.runs} runs reach it`,
      }))),
      h("p", { class: "source" }, `Recorded runs of wildfire.toml: medians of ${best.runs} runs a method, all joules of UAV and devices, simulated seconds. Accuracy: the right answer is among the first three.`)),
    words: [
      h("p", {}, ABOUT_MISSION), h("p", {}, othersText(costs, best)), ...(story ? [h("p", {}, whyStaying(story))] : []),
      h("h2", {}, "When another method is the choice"), h("ul", { class: "exceptions" }, ...exceptions(best.method)),
    ],
  };
}

const ABOUT_MISSION = "You name a target. In every round a mission measures what each device contributes, and makes the four decisions that reach the target with the least energy.";

/** Why a server that stays can be nearly as good, although its round is the worst of scene 2. */
const whyStaying = ({ plan, stay }: Story): string =>
  `Scene 2 rates one round by theory: there the server that stays, as max-vfl's does, is worst, since it hears only ${heard(stay)} of ${plan.devices.length} devices. In whole runs, those that it heard were enough for this target.`;

/** The other methods: how much more they take, and whether they get there. */
function othersText(costs: MethodCost[], best: MethodCost): string {
  const others = costs.filter((cost) => cost !== best);
  const more = others.filter((cost) => cost.joules !== null)
    .map((cost, index) => `${cost.method} ${index ? "" : "takes "}${Math.round(100 * (cost.joules! / best.joules! - 1))} %${index ? "" : " more energy"}`);
  const missing = others.filter((cost) => cost.joules === null).map((cost) => `${cost.method} gets there in only ${cost.reached} of ${cost.runs} runs`);
  return `It reaches 97 % top-3 accuracy for ${costOf(best)}. ${capital([more.join(", "), ...missing].join("; "))}. ` +
    `Nearly all energy is the UAV's hovering, ${digits(best.joules! / best.seconds!)} W: a method that needs fewer rounds saves more than a better place does.`;
}

/** Methods that were cheaper than the chosen one in as many runs as they were dearer. */
const aboutAsGood = (chosen: string): MethodCost[] =>
  figures.networks.wildfire["top3=97"].filter((cost) => cost.method !== chosen && cost.cheaper >= cost.dearer);

/** Where other methods are as good or cheaper, by the same records. */
function exceptions(chosen: string): HTMLElement[] {
  const { wildfire, "smart-grid": grid } = figures.networks;
  return [
    ...aboutAsGood(chosen).map((cost) => h("li", {}, h("b", {}, `If simple is better: ${cost.method}`),
      `, everything at its maximum. It is about as good here: cheaper than ${chosen} in ${cost.cheaper} of ${cost.runs} runs, more expensive in ${cost.dearer}, much the same in ${cost.runs - cost.cheaper - cost.dearer}.`)),
    ...elsewhere("If 95 % is enough", wildfire["top3=95"], chosen),
    ...elsewhere("To 97 % in another network, smart-grid", grid["top3=97"], chosen),
  ];
}

function elsewhere(when: string, costs: MethodCost[], chosen: string): HTMLElement[] {
  const best = cheapest(costs);
  const ours = costs.find((cost) => cost.method === chosen)!;
  if (best.method === chosen) return [];
  return [h("li", {}, h("b", {}, `${when}: ${best.method}`), `, for ${costOf(best)}; ${chosen} takes ${costOf(ours)}.`)];
}
