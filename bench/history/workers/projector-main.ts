import { serveRequests, tellParent } from '../../shared/processes/serve-requests.js';
import { createProjector } from './projector.js';

const projector = createProjector({ now: () => performance.now(), onProgress: tellParent });
serveRequests((request) => projector.handle(request));
