import type { TestAnswer } from './test-api.js';

export interface EventPage {
  readonly data: readonly { readonly eventId: string }[];
  readonly nextPageState: string | null;
  readonly completeUntil: string | null;
}

/** Of `GET /public/v2/events`. */
export function pageOf(answer: TestAnswer): EventPage {
  return answer.body as EventPage;
}

export function idsOf(answer: TestAnswer): string[] {
  return pageOf(answer).data.map(({ eventId }) => eventId);
}
