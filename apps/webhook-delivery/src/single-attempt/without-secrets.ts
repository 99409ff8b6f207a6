const MASK = '[secret]';
/** A shorter prefix of a secret reveals nothing, and may be there by chance. */
const LEAST_BEGINNING = 4;

/** The decoded text of a response, with the position of each character in the original, and its end as the last one. */
interface Reading {
  readonly text: string;
  readonly places: ArrayLike<number>;
}

interface Escapes {
  readonly pattern: RegExp;
  /** Matches an escape that the end of the response has cut off. */
  readonly cut: RegExp;
}

/** The ways in which receivers repeat what they were sent: in JSON, in HTML, in a URL. */
const ESCAPES: readonly Escapes[] = [
  { pattern: /\\(?:u00(?<hex>[\da-f]{2})|(?<char>["\\/]))/gi, cut: /\\(?:u[\da-f]{0,3})?$/i },
  {
    pattern: /&(?:#x0*(?<hex>[\da-f]{2});|#0*(?<decimal>\d{2,3});|(?<name>quot|amp|lt|gt|apos);)/gi,
    cut: /&(?:#x?[\da-f]*|[a-z]{0,4})$/i,
  },
  { pattern: /%(?<hex>[\da-f]{2})|(?<name>\+)/gi, cut: /%[\da-f]?$/i },
];
const NAMED: Readonly<Record<string, string>> = { quot: '"', amp: '&', lt: '<', gt: '>', apos: "'", '+': ' ' };

/** Masks the secrets in the beginning of a response, and the prefix of one cut off by its end. */
export function withoutSecrets(body: Buffer, secrets: readonly string[]): Buffer {
  // Most requests carry no secrets, and the time for reading a page would be lost to others.
  if (secrets.every((secret) => secret === '')) return body;
  // Latin-1 gives one character per byte, as in header values.
  const text = body.toString('latin1');
  const isSecret = new Uint8Array(text.length);
  for (const reading of readingsOf(text))
    for (const secret of secrets) {
      markWhole(isSecret, reading, secret);
      markBeginning(isSecret, reading, secret);
    }
  return isSecret.includes(1) ? Buffer.from(masked(text, isSecret), 'latin1') : body;
}

function readingsOf(text: string): Reading[] {
  return [
    asItIs(text),
    ...ESCAPES.flatMap((escapes) =>
      text.search(escapes.pattern) < 0 && text.search(escapes.cut) < 0 ? [] : unescaped(text, escapes),
    ),
  ];
}

function asItIs(text: string): Reading {
  const places = new Uint32Array(text.length + 1);
  for (let at = 0; at <= text.length; at++) places[at] = at;
  return { text, places };
}

function unescaped(text: string, { pattern, cut }: Escapes): Reading {
  const whole = text.replace(cut, '');
  const places = new Uint32Array(text.length + 1);
  let read = '';
  let length = 0;
  let at = 0;
  const literally = (end: number): void => {
    read += text.slice(at, end);
    for (; at < end; at++) places[length++] = at;
  };
  for (const { index, 0: escape, groups = {} } of whole.matchAll(pattern)) {
    literally(index);
    read += characterOf(groups);
    places[length++] = index;
    at = index + escape.length;
  }
  literally(whole.length);
  places[length] = text.length;
  return { text: read, places };
}

/** Always one UTF-16 unit, whatever the number: each position of the reading is one character. */
function characterOf({ hex, decimal, char, name }: Readonly<Record<string, string | undefined>>): string {
  if (char !== undefined) return char;
  if (name !== undefined) return NAMED[name.toLowerCase()] ?? '';
  return String.fromCharCode(hex === undefined ? Number(decimal) : parseInt(hex, 16));
}

/** Secrets may contain or overlap each other, so each is masked as a whole. */
function markWhole(isSecret: Uint8Array, { text, places }: Reading, secret: string): void {
  if (secret === '') return;
  let markedTo = 0;
  for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
    const end = at + secret.length;
    isSecret.fill(1, places[Math.max(at, markedTo)], places[end]);
    markedTo = end;
  }
}

function markBeginning(isSecret: Uint8Array, { text, places }: Reading, secret: string): void {
  const last = text.at(-1);
  for (let length = Math.min(secret.length - 1, text.length); length >= LEAST_BEGINNING; length--)
    if (secret[length - 1] === last && text.endsWith(secret.slice(0, length))) {
      isSecret.fill(1, places[text.length - length]);
      return;
    }
}

function masked(text: string, isSecret: Uint8Array): string {
  let shown = '';
  for (let at = 0; at < text.length;) {
    const isMasked = isSecret[at] === 1;
    const next = isSecret.indexOf(isMasked ? 0 : 1, at);
    const end = next < 0 ? text.length : next;
    shown += isMasked ? MASK : text.slice(at, end);
    at = end;
  }
  return shown;
}
