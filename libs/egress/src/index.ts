export { type AddressRefusal, type AddressVerdict, type Subnet } from './address/classify-address.js';
export { type DnsLookupOptions, type Lookup, type ResolvedAddress } from './address/dns-lookup.js';
export {
  type CertificateAndKey,
  checkClientCertificate,
  type ClientCertificateCheck,
  type ClientIdentity,
  clientIdentityOf,
  MAX_CLIENT_CERTIFICATES_LENGTH,
  MAX_CLIENT_KEY_LENGTH,
} from './certificate/client-certificate.js';
export { type AbortGroup, createAbortGroup } from './client/abort-group.js';
export {
  createEgressClient,
  EgressClient,
  type EgressClientOptions,
  type EgressRequest,
} from './client/egress-client.js';
export type { EgressErrorCode, EgressResult, KeptHeader } from './client/egress-result.js';
export { NewestMap } from './newest-map.js';
export {
  checkSubscriberUrl,
  MAX_URL_LENGTH,
  type SubscriberUrl,
  type UrlCheckOptions,
  type UrlRefusal,
  type UrlRules,
} from './url/subscriber-url.js';
