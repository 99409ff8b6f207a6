import { Injectable } from '@nestjs/common';
import { DEFAULT_REPLAY_RATE_PER_SECOND, TEST_EVENT_TYPE } from '@waypost/domain';
import type { Visibility } from '../auth/caller.js';
import { DeliveryPagesService } from '../delivery-history/delivery-pages.service.js';
import { ApiError, notFound } from '../errors/api-error.js';
import type { MakeChange } from '../idempotency/idempotent-requests.js';
import type { ReplayDto } from '../replays/replays.dto.js';
import { ReplaysService } from '../replays/replays.service.js';

interface AttemptedDelivery {
  readonly subscriptionId: string;
  readonly firstAttemptAt: number;
}

export interface EventRef {
  /** Finds the event only among what it may see. */
  readonly caller: Visibility;
  readonly eventId: string;
}

/** Sends one event again as a replay of it alone. An event id belongs to one subscription. */
@Injectable()
export class EventResendsService {
  constructor(
    private readonly pages: DeliveryPagesService,
    private readonly replays: ReplaysService,
  ) {}

  /** @throws ApiError for every refusal */
  async create(ref: EventRef, change: MakeChange<ReplayDto>): Promise<ReplayDto> {
    const { subscriptionId, firstAttemptAt } = await this.firstDelivery(ref);
    const selection = {
      // A replay selects by the first attempt: this millisecond is all that it has to look for.
      startDate: firstAttemptAt,
      endDate: firstAttemptAt + 1,
      eventId: ref.eventId,
      ratePerSecond: DEFAULT_REPLAY_RATE_PER_SECOND,
    };
    return this.replays.create({ fleetId: ref.caller.fleetId, id: subscriptionId }, selection, change);
  }

  /** Finds series 0, from which a replay is made: the later ones may outlive it in the history. */
  private async firstDelivery({ caller, eventId }: EventRef): Promise<AttemptedDelivery> {
    const path = '/public/v2/events/:eventId/resend';
    const { records } = await this.pages.readEvent({ caller, path, eventId, limit: 1 });
    const [first] = records;
    if (first?.series !== 0) throw notFound('The first delivery of this event is not in the history.');
    if (first.eventType === TEST_EVENT_TYPE) {
      throw new ApiError(409, 'test_event', 'A test event cannot be resent: request another one with /test.');
    }
    const { subscriptionId, firstAttemptAt } = first;
    if (firstAttemptAt === null) {
      const message = 'This event is waiting for its first attempt: it will be sent, and can be resent after that.';
      throw new ApiError(409, 'not_attempted_yet', message);
    }
    return { subscriptionId, firstAttemptAt };
  }
}
