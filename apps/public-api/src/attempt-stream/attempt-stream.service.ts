import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { deliveryStatus, formatTime, type WebhookAttempt } from '@waypost/domain';
import { CLOCK, CONFIG, LOGGER, type Logger } from '@waypost/platform';
import { bearerToken, type Caller, maySee, type Visibility } from '../auth/caller.js';
import { KeyDirectory } from '../auth/key-directory.js';
import { ApiError, invalidHeader } from '../errors/api-error.js';
import { Shares, type ShareTaker } from '../limits/shares.js';
import { type AttemptFollower, AttemptLogReader, type LogPosition } from './attempt-log-reader.js';
import type { AttemptStreamQueryDto, StreamedAttemptDto } from './attempt-stream.dto.js';
import { EventStream } from './event-stream.js';
import { STREAM_IDS, type StreamIds } from './stream-ids.js';

const LAST_EVENT_ID = 'Last-Event-ID';
/** Each stream reads the whole log. */
const MAX_OF_PROCESS = 64;
export const MAX_STREAMS_PER_KEY = 4;

/** streams the attempts of a fleet as they are logged. */
@Injectable()
export class AttemptStreamService implements BeforeApplicationShutdown {
  private readonly stopping = new AbortController();
  private readonly places: Shares;

  constructor(
    private readonly log: AttemptLogReader,
    @Inject(STREAM_IDS) private readonly ids: StreamIds,
    private readonly keys: KeyDirectory,
    @Inject(LOGGER) private readonly logger: Logger,
    @Inject(CLOCK) private readonly nowMs: () => number,
    @Inject(CONFIG) { http }: { readonly http: { readonly maxStreamsPerFleet: number } },
  ) {
    this.places = new Shares({ key: MAX_STREAMS_PER_KEY, fleet: http.maxStreamsPerFleet, process: MAX_OF_PROCESS });
  }

  beforeApplicationShutdown(): void {
    this.stopping.abort();
  }

  /** Resolves when the stream has ended. @throws ApiError before the first byte */
  async open(caller: Caller, query: AttemptStreamQueryDto, request: Request, response: Response): Promise<void> {
    const from = this.lastPosition(request, caller);
    const leave = this.enter(caller);
    const stream = new EventStream(response, {
      stopping: this.stopping.signal,
      isStillAllowed: () => this.isLive(request, caller),
    });
    try {
      await this.follow(stream, caller, query, from);
    } finally {
      stream.end();
      leave();
    }
    // Its reader waits, and the log was not there or the process stops.
    if (!response.headersSent && !request.socket.destroyed)
      throw new ApiError(503, 'unavailable', NOT_BEGUN, { headers: { 'retry-after': '5' } });
  }

  private async follow(
    stream: EventStream,
    caller: Visibility,
    query: AttemptStreamQueryDto,
    from: LogPosition | null,
  ): Promise<void> {
    const isWanted = filterOf(caller, query);
    const idOf = (position: LogPosition): string => this.ids.idOf(position, caller.fleetId);
    const follower: AttemptFollower = {
      // Not before: a client that sees the stream open may rely on getting what is logged from then on.
      begin: (position) => stream.begin(idOf(position)),
      take({ attempts, position }) {
        const wanted = attempts.filter(({ attempt }) => isWanted(attempt));
        const events = wanted.map((one) => ({ id: idOf(one.position), data: shown(one.attempt) }));
        return stream.send(events, () => idOf(position));
      },
    };
    try {
      await this.log.follow(from, follower, stream.signal);
    } catch (error) {
      // The client connects again, with the last id that it has.
      this.logger.warn('attempt_stream_failed', { fleetId: caller.fleetId, error });
    }
  }

  private enter(reader: ShareTaker): () => void {
    const place = this.places.take(reader);
    if (place.type === 'taken') return place.giveBack;
    const message = `${WHOSE[place.whose]} may have ${String(place.most)} streams at a time: close one first.`;
    throw new ApiError(429, 'rate_limited', message, { headers: { 'retry-after': '5' } });
  }

  private lastPosition(request: Request, { fleetId }: Caller): LogPosition | null {
    const id = request.get(LAST_EVENT_ID);
    if (id === undefined || id === '') return null;
    const read = this.ids.read(id, fleetId);
    if (read.type === 'refused') throw invalidHeader(LAST_EVENT_ID, read.message);
    return read.position;
  }

  /** Whether the key has not been revoked since, and the session has not ended: also while no one can be asked. */
  private async isLive(request: Request, { type, keyId, expiresAt }: Caller): Promise<boolean> {
    // An admin key is in the configuration, which does not change while the process runs.
    if (type === 'admin') return true;
    if (expiresAt !== null && expiresAt <= this.nowMs()) return false;
    const key = bearerToken(request);
    const caller = key === null ? null : await this.keys.find(key);
    return caller?.keyId === keyId;
  }
}

const NOT_BEGUN = 'The stream cannot start right now; reconnect shortly.';
const WHOSE = {
  key: 'An API key',
  fleet: 'A fleet, over all of its keys and sessions,',
  process: 'A process of this service',
} as const;

function filterOf(caller: Visibility, query: AttemptStreamQueryDto): (attempt: WebhookAttempt) => boolean {
  const { eventType: types = [], deviceId, subscriptionId, eventId, statusCode, status } = query;
  const wantedTypes = new Set<string>(types);
  const is = <T>(wanted: T | undefined, value: T): boolean => wanted === undefined || wanted === value;
  return (attempt) =>
    attempt.fleetId === caller.fleetId &&
    maySee(caller, attempt.subscriptionId) &&
    (wantedTypes.size === 0 || wantedTypes.has(attempt.eventType)) &&
    is(deviceId, attempt.deviceId) &&
    is(subscriptionId, attempt.subscriptionId) &&
    is(eventId, attempt.eventId) &&
    is<number | null>(statusCode, attempt.statusCode) &&
    is(status, deliveryStatus(attempt.outcome));
}

function shown(attempt: WebhookAttempt): StreamedAttemptDto {
  const status = deliveryStatus(attempt.outcome);
  const { statusCode, errorCode, nextDueAt } = attempt;
  return {
    eventId: attempt.eventId,
    eventType: attempt.eventType as StreamedAttemptDto['eventType'],
    eventTime: formatTime(attempt.eventTime),
    deviceId: attempt.deviceId,
    subscriptionId: attempt.subscriptionId,
    series: attempt.series,
    attempt: attempt.attempt,
    ...(attempt.probe ? { probe: true as const } : {}),
    startedAt: formatTime(attempt.startedAt),
    durationMs: attempt.durationMs,
    ...(statusCode === null ? {} : { statusCode }),
    ...(errorCode === null ? {} : { error: errorCode }),
    status,
    ...(status === 'pending' && nextDueAt !== null ? { nextAttemptAt: formatTime(nextDueAt) } : {}),
  };
}
