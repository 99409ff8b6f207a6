/**
 * Loaded into a process before its own code: with each SIGUSR2 its wall clock jumps, 90 s ahead and then back to the right
 * time, as when a machine's clock is set. Timers and monotonic time go on.
 */
const STEP_MS = 90_000;
const now = Date.now;
let offsetMs = 0;

Date.now = () => now() + offsetMs;
globalThis.Date = new Proxy(Date, {
  construct: (target, args) => (args.length === 0 ? new target(now() + offsetMs) : new target(...args)),
});
process.on('SIGUSR2', () => {
  offsetMs = offsetMs === 0 ? STEP_MS : 0;
});
