import { serveRequests, tellParent } from '../../shared/processes/serve-requests.js';
import { createSink, type SinkRequestMessage } from './sink.js';

/** How often the parent hears how many were received: the load generator bounds by it what is under way. */
const TELL_EVERY_MS = 10;

const sink = createSink(Date.now);
const reported = { answered200: -1 };

serveRequests((request) => sink.handle(request as SinkRequestMessage));

setInterval(() => {
  const answered200 = sink.answered200();
  if (answered200 === reported.answered200) return;
  reported.answered200 = answered200;
  tellParent({ answered200 });
}, TELL_EVERY_MS);
