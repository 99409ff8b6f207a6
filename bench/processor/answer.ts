/** What came out: the programs of the peer count and hash events in an order-independent way. */
export interface Answer {
  readonly events: number;
  /** Over device, type and time of each event. */
  readonly hash: string;
  /** Over the bytes of each event; not known of the expected answer, which is worked out without Kafka. */
  readonly content: string | null;
}

const ANSWER = /events=(\d+) .*hash=([0-9a-f]{16}) content=([0-9a-f]{16})/;
const NO_CONTENT = '0'.repeat(16);

/** @param text a line that holds an answer */
export function parseAnswer(text: string): Answer {
  const [, events, hash, content] = ANSWER.exec(text) ?? [];
  if (events === undefined || hash === undefined || content === undefined) throw new Error(`Not an answer: ${text}`);
  return { events: Number(events), hash, content: content === NO_CONTENT ? null : content };
}

/** Whether all are the answer that is expected, and equal each other to the byte. */
export function isSameAnswer(expected: Answer, found: readonly Answer[]): boolean {
  const [first] = found;
  return (
    first !== undefined &&
    found.every(
      ({ events, hash, content }) =>
        events === expected.events && hash === expected.hash && content === first.content && content !== null,
    )
  );
}

export function answerText({ events, hash, content }: Answer): string {
  return `${String(events)} events, hash ${hash}${content === null ? '' : `, content ${content}`}`;
}
