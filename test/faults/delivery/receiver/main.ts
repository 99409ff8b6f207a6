import { serveRequests } from '../../../../bench/shared/workers/serve-requests.js';
import type { ReceiverRequest } from './messages.js';
import { createRecordingReceiver } from './recording-receiver.js';

const receiver = createRecordingReceiver(Date.now);

serveRequests((request) => receiver.handle(request as ReceiverRequest));
