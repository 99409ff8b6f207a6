/** Lets one loop sleep until it is woken. A wake-up between `arm` and `wait` is not missed. */
export interface Signal {
  arm(): void;
  wake(): void;
  /** Resolves on a wake-up since `arm`, or after `ms`. */
  wait(ms: number): Promise<void>;
}

export function createSignal(): Signal {
  let woken = false;
  let resume: (() => void) | null = null;
  return {
    arm() {
      woken = false;
    },
    wake() {
      woken = true;
      resume?.();
    },
    async wait(ms) {
      if (woken) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        resume = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      resume = null;
    },
  };
}
