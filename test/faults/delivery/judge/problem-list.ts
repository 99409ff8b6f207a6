const MOST_SHOWN = 4;

/** Problems by kind: a fault that hits thousands of deliveries is shown by a few of them and their number. */
export interface ProblemList {
  add(kind: string, what: string): void;
  lines(): string[];
}

export function createProblemList(): ProblemList {
  const kinds = new Map<string, { readonly shown: string[]; count: number }>();
  return {
    add(kind, what) {
      const known = kinds.get(kind) ?? { shown: [], count: 0 };
      kinds.set(kind, known);
      known.count += 1;
      if (known.shown.length < MOST_SHOWN) known.shown.push(what);
    },
    lines: () =>
      [...kinds].map(([kind, { shown, count }]) => {
        const more = count > shown.length ? [`and ${String(count - shown.length)} more`] : [];
        return `${kind} (${String(count)}): ${[...shown, ...more].join('; ')}`;
      }),
  };
}
