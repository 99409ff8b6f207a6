export {
  checkClientCertificate,
  type ClientIdentity,
  clientIdentityOf,
  MAX_CLIENT_CERTIFICATES,
  MAX_CLIENT_CERTIFICATES_LENGTH,
  MAX_CLIENT_KEY_LENGTH,
} from './certificate/client-certificate.js';
export { type AbortGroup, createAbortGroup } from './client/abort-group.js';
export { createEgressClient, EgressClient, type EgressRequest, type RequestOwner } from './client/egress-client.js';
export type { EgressResult } from './client/egress-result.js';
export { NewestMap } from './newest-map.js';
export { parseUrl } from './url/parse-url.js';
export {
  checkSubscriberUrl,
  MAX_SUBSCRIBER_URL_BYTES,
  parseSubscriberUrl,
  type UrlCheckOptions,
} from './url/subscriber-url.js';
