import { api } from "../api";
import { isEdit } from "./plan-model";
import type { PlanModel, Snapshot } from "./plan-model";
import { throttle } from "./throttle";

const KEY = "scdn-draft";
const SAVE_EVERY_MS = 400;

/** Keeps the network in this browser, so that a reload does not lose it. */
export function keepDraft(model: PlanModel): void {
  const save = throttle(SAVE_EVERY_MS, () => {
    try {
      localStorage.setItem(KEY, JSON.stringify(model.snapshot()));
    } catch {
      localStorage.removeItem(KEY); // too large to be kept
    }
  });
  model.onChange((change) => { if (isEdit(change)) save(); });
}

/** Loads the network that was kept, if there is one that can still be read. */
export async function restoreDraft(model: PlanModel): Promise<boolean> {
  const text = localStorage.getItem(KEY);
  if (!text) return false;
  try {
    const draft = JSON.parse(text) as Snapshot;
    const { request } = await api.open("draft.json", draft.text);
    model.load(request, draft.source);
    return true;
  } catch {
    return false;
  }
}
