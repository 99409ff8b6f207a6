import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type Caller, CurrentCaller } from '../auth/caller.js';
import { Endpoint } from '../endpoint/endpoint.decorator.js';
import { AttemptStreamQueryDto, StreamedAttemptDto } from './attempt-stream.dto.js';
import { AttemptStreamService } from './attempt-stream.service.js';

@Controller('/public/v2/stream')
export class AttemptStreamController {
  constructor(private readonly streams: AttemptStreamService) {}

  /** Not Nest's `@Sse()`: an observable has no way to learn that the reader has no room. */
  @Get()
  @Endpoint({
    operationId: 'streamAttempts',
    summary: 'Follow attempts as they are made',
    description:
      'Server-sent events. The `data` of each event `attempt` is one attempt, in the order of the log for a subscription. Without `Last-Event-ID` the stream starts now; with the last id that was read it continues from there, on any instance and for as long as the log is kept. It starts with an id without an event, so that it can be continued before the first event, and sometimes sends another one for attempts that the filters leave out. It never ends: reconnect when it closes. An id is valid for all streams of its fleet, with any filters. An API key may have 4 streams of one process, and a fleet 16 unless its operator has set another number.',
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
