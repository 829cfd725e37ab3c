/** Calls `work` now if the last call was `gap` milliseconds ago, else once when it was. */
export function throttle(gap: number, work: () => void): () => void {
  let [last, timer] = [-gap, 0];
  const run = () => {
    last = performance.now();
    timer = 0;
    work();
  };
  return () => {
    if (timer) return;
    const wait = last + gap - performance.now();
    if (wait <= 0) run();
    else timer = window.setTimeout(run, wait);
  };
}

/** Calls `work` at most every `gap` milliseconds and never twice at once; a call meanwhile repeats it. */
export function throttleAsync(gap: number, work: () => Promise<void>): () => void {
  let [running, requested, last] = [false, false, 0];
  const run = async (): Promise<void> => {
    if (running) {
      requested = true;
      return;
    }
    running = true;
    const wait = last + gap - performance.now();
    if (wait > 0) await new Promise((done) => setTimeout(done, wait));
    requested = false;
    last = performance.now();
    try {
      await work();
    } finally {
      running = false;
      if (requested) void run();
    }
  };
  return () => void run();
}
