import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

type IdMaker = (...fields: readonly string[]) => string;

/** A function that makes event ids by docs/reference/event-ids.md and RFC 9562 alone. */
export function documentedEventId(): IdMaker {
  return idMaker(/The namespace is `([0-9a-f-]{36})`/);
}

/** Likewise for the ids of routes and stops, from fleetId, deviceId, kind and start time. */
export function documentedResourceId(): IdMaker {
  return idMaker(/Their namespace is `([0-9a-f-]{36})`/);
}

function idMaker(namespaceInDocs: RegExp): IdMaker {
  const text = readFileSync(new URL('../../docs/reference/event-ids.md', import.meta.url), 'utf8');
  const namespace = namespaceInDocs.exec(text)?.[1];
  if (namespace === undefined) throw new Error('docs/reference/event-ids.md does not name the namespace.');
  const namespaceBytes = Buffer.from(namespace.replaceAll('-', ''), 'hex');
  return (...fields) => {
    const hash = createHash('sha1').update(namespaceBytes).update(fields.join('\u001f'), 'utf8').digest('hex');
    const variant = ((parseInt(hash.slice(16, 18), 16) & 0x3f) | 0x80).toString(16);
    return [
      hash.slice(0, 8),
      hash.slice(8, 12),
      `5${hash.slice(13, 16)}`,
      `${variant}${hash.slice(18, 20)}`,
      hash.slice(20, 32),
    ].join('-');
  };
}
