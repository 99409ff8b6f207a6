import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { AttemptStreamQueryDto, StreamedAttemptDto } from './attempt-stream.dto.js';
import { AttemptStreamService, MAX_STREAMS_PER_KEY } from './attempt-stream.service.js';

@Controller('/public/v2/stream')
export class AttemptStreamController {
  constructor(private readonly streams: AttemptStreamService) {}

  /** Not Nest's `@Sse()`: an observable has no way to learn that the reader has no room. */
  @Get()
  @Endpoint({
    operationId: 'streamAttempts',
    summary: 'Follow attempts as they are made',
    description: `Server-sent events. The \`data\` of each \`attempt\` event is one attempt; the attempts of a subscription come in the order of the log. Without \`Last-Event-ID\` the stream starts now. With the last id you received it continues from there, on any instance, as long as the log is kept. The stream begins with an id that has no event, so that you can resume before the first event arrives, and sends more of them for attempts that the filters exclude. It has no end: reconnect whenever it closes. An id is valid for every stream of its fleet, with any filters. Each API key can hold ${String(MAX_STREAMS_PER_KEY)} streams per process; the operator sets the limit of a fleet.`,
    tag: 'History',
    scope: 'events:read',
    portal: 'filtered',
    response: { status: 200, description: 'The stream.', type: StreamedAttemptDto, mediaType: 'text/event-stream' },
    lastEventId: true,
  })
  follow(
    @CurrentCaller() caller: Caller,
    @Query() query: AttemptStreamQueryDto,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    return this.streams.open(caller, query, request, response);
  }
}
