/** Calls again and again until cancelled through the function it returns. */
export type Every = (ms: number, call: () => void) => () => void;

/** Every */
export const EVERY = Symbol('EVERY');

export const everyInterval: Every = (ms, call) => {
  const timer = setInterval(call, ms);
  return () => clearInterval(timer);
};
