import { serveRequests } from '../../../bench/shared/processes/serve-requests.js';
import { createRecordingReceiver, type ReceiverRequest } from './recording-receiver.js';

const receiver = createRecordingReceiver(Date.now);

serveRequests((request) => receiver.handle(request as ReceiverRequest));
