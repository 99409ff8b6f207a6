/**
 * Loaded into a process before its own code: its connections come from the loopback address in
 * WAYPOST_TEST_SOURCE_ADDRESS, so that a receiver can tell which process has called. Nothing else changes for it.
 */
import { Socket } from 'node:net';

const address = process.env.WAYPOST_TEST_SOURCE_ADDRESS;
const connect = Socket.prototype.connect;

if (address !== undefined) {
  Socket.prototype.connect = function connectFrom(...args) {
    // net.connect() hands over its arguments as a list that begins with the options.
    const [first] = args;
    const options = Array.isArray(first) ? first[0] : first;
    if (typeof options === 'object' && options !== null && options.path === undefined) options.localAddress ??= address;
    return connect.apply(this, args);
  };
}
