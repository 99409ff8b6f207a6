import { serveRequests, tellParent } from '../../shared/workers/serve-requests.js';
import { createProjector } from './projector.js';

const projector = createProjector({ now: () => performance.now(), onProgress: tellParent });
serveRequests((request) => projector.handle(request));
