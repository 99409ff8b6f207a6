import { serveRequests } from '../../shared/processes/serve-requests.js';
import { createLoadGenerator } from './load-generator.js';
import type { LoadRequestMessage } from './messages.js';

const generator = createLoadGenerator(Date.now);

serveRequests((request) => generator.handle(request as LoadRequestMessage));
