const ONE_CHANGE_MS = 600; // edits within this time, such as those of a drag, are one change
const MOST = 100;

/** What to go back to, and forward again. */
export class History<T> {
  private past: T[] = [];
  private future: T[] = [];
  private lastEdit = -Infinity;

  /** Remembers what was there before an edit; edits in quick succession are one change unless `apart`. */
  record(before: T, apart = false): void {
    const now = performance.now();
    if (apart || now - this.lastEdit > ONE_CHANGE_MS) this.past = [...this.past.slice(1 - MOST), before];
    this.future = [];
    this.lastEdit = apart ? -Infinity : now;
  }

  undo(current: T): T | null {
    return this.step(this.past, this.future, current);
  }

  redo(current: T): T | null {
    return this.step(this.future, this.past, current);
  }

  private step(from: T[], to: T[], current: T): T | null {
    const next = from.pop();
    if (next === undefined) return null;
    to.push(current);
    this.lastEdit = -Infinity;
    return next;
  }

  get canUndo(): boolean {
    return this.past.length > 0;
  }

  get canRedo(): boolean {
    return this.future.length > 0;
  }
}
