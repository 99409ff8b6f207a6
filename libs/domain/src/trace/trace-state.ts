export const TRACESTATE = 'tracestate';

/** The length that everyone has to pass on, in characters; whole members beyond it are dropped from the end. */
export const MAX_TRACESTATE_LENGTH = 512;
const MAX_MEMBERS = 32;

/** A key of a vendor, or of a tenant at a vendor, and a value without comma, equals sign or trailing space. */
const MEMBER =
  /^[a-z0-9][a-z0-9_\-*/]*(@[a-z0-9][a-z0-9_\-*/]*)?=[\x20-\x2b\x2d-\x3c\x3e-\x7e]*[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** a producer's `tracestate` as receivers get it; null if any detail of it is wrong. */
export function passedTracestate(given: string): string | null {
  const members = given
    .split(',')
    .map((member) => member.replace(/^[ \t]+|[ \t]+$/g, ''))
    .filter((member) => member !== '');
  const keys = new Set(members.map((member) => member.slice(0, member.indexOf('='))));
  if (members.length > MAX_MEMBERS || keys.size < members.length) return null;
  if (!members.every((member) => MEMBER.test(member))) return null;
  let passed = '';
  for (const member of members) {
    const longer = passed === '' ? member : `${passed},${member}`;
    if (longer.length > MAX_TRACESTATE_LENGTH) break;
    passed = longer;
  }
  return passed === '' ? null : passed;
}
