/**
 * Loaded before public-api (`--import`) while it is fuzzed: subscriptions with generated URLs must not reach anyone.
 * Name servers are not asked: every name has one public address, but those under `.invalid` have none (RFC 6761). A
 * socket to anywhere but this machine is refused and logged, where the run looks for it.
 */
import { Resolver } from 'node:dns/promises';
import { isIP, Socket } from 'node:net';

/** Public, so that the check of R-18 takes it; nothing ever connects to it. */
const PUBLIC_ADDRESS = '93.184.215.14';

const fail = (code, message) => Promise.reject(Object.assign(new Error(message), { code }));
Resolver.prototype.resolve4 = (name) =>
  name.endsWith('.invalid') ? fail('ENOTFOUND', `no such name: ${name}`) : Promise.resolve([PUBLIC_ADDRESS]);
Resolver.prototype.resolve6 = (name) => fail('ENODATA', `no such address: ${name}`);

const { connect } = Socket.prototype;
Socket.prototype.connect = function connectHere(...given) {
  // Node's own callers give the options as the first item of an array.
  const [first] = Array.isArray(given[0]) ? given[0] : given;
  const host = typeof first === 'object' ? first.host : typeof given[1] === 'string' ? given[1] : undefined;
  if (host !== undefined && host !== 'localhost' && !/^(127\.|::1$)/.test(host)) {
    process.stdout.write(`${JSON.stringify({ event: 'network_closed', host, isAddress: isIP(host) !== 0 })}\n`);
    throw Object.assign(new Error(`This process may not connect to ${host}.`), { code: 'EACCES' });
  }
  return connect.apply(this, given);
};
