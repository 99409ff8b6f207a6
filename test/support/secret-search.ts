/** Something that was handed out and must be found nowhere afterwards. */
export interface Secret {
  readonly name: string;
  readonly bytes: Buffer;
}

/** Something that the product keeps or shows. */
export interface KeptBytes {
  readonly place: string;
  readonly bytes: Buffer;
}

export interface Leak {
  readonly place: string;
  readonly secret: string;
  readonly form: string;
}

interface Form {
  readonly form: string;
  readonly bytes: Buffer;
}

/** Below this, chance would find it. */
const MIN_BYTES = 12;

export function textSecret(name: string, text: string): Secret {
  return { name, bytes: Buffer.from(text) };
}

/** Every form of a secret in which a log, a row, a record or an error might give it away. */
export function formsOf({ name, bytes }: Secret): Form[] {
  if (bytes.length < MIN_BYTES) throw new Error(`${name} is too short to be searched for`);
  const plain = [{ form: 'plain', bytes }];
  return withoutRepeats([...plain, ...textForms(bytes)].flatMap((one) => [one, ...encodedForms(one)]));
}

export function findLeaks(kept: readonly KeptBytes[], secrets: readonly Secret[]): Leak[] {
  const needles = secrets.flatMap((secret) => formsOf(secret).map((form) => ({ secret: secret.name, ...form })));
  return kept.flatMap(({ place, bytes }) =>
    needles.filter((needle) => bytes.includes(needle.bytes)).map(({ secret, form }) => ({ place, secret, form })),
  );
}

/** How text is written in URLs, forms and JSON. Bytes that are no text have no such forms. */
function textForms(bytes: Buffer): Form[] {
  const text = bytes.toString();
  if (!Buffer.from(text).equals(bytes)) return [];
  const ascii = JSON.stringify(text).replace(/[^\x20-\x7e]/g, (char) => `\\u${hex4(char.charCodeAt(0))}`);
  return [
    { form: 'URL-encoded', bytes: Buffer.from(encodeURIComponent(text)) },
    { form: 'form-encoded', bytes: Buffer.from(new URLSearchParams([['', text]]).toString().slice(1)) },
    { form: 'JSON', bytes: Buffer.from(JSON.stringify(text).slice(1, -1)) },
    { form: 'ASCII JSON', bytes: Buffer.from(ascii.slice(1, -1)) },
  ];
}

function encodedForms({ form, bytes }: Form): Form[] {
  const hex = bytes.toString('hex');
  return [
    { form: `hex of ${form}`, bytes: Buffer.from(hex) },
    { form: `HEX of ${form}`, bytes: Buffer.from(hex.toUpperCase()) },
    ...[0, 1, 2].flatMap((before) => {
      const text = base64Within(bytes, before);
      return [
        { form: `base64 of ${form}, ${String(before)} bytes in`, bytes: Buffer.from(text) },
        {
          form: `base64url of ${form}, ${String(before)} bytes in`,
          bytes: Buffer.from(text.replaceAll('+', '-').replaceAll('/', '_')),
        },
      ];
    }),
  ];
}

/** The characters that these bytes alone decide when they stand in something longer, as in `Basic <id>:<secret>`. */
function base64Within(bytes: Buffer, before: number): string {
  const padded = Buffer.concat([Buffer.alloc(before), bytes]);
  return padded.toString('base64').slice(Math.ceil((before * 8) / 6), Math.floor((padded.length * 8) / 6));
}

function withoutRepeats(forms: readonly Form[]): Form[] {
  const seen = new Set<string>();
  return forms.filter(({ bytes }) => {
    const key = bytes.toString('latin1');
    return seen.has(key) ? false : seen.add(key);
  });
}

function hex4(code: number): string {
  return code.toString(16).padStart(4, '0');
}
