import { describe, expect, it } from '@jest/globals';
import { createLogger, type LoggerOptions } from './logger.js';

function build(level: LoggerOptions['level'] = 'debug') {
  const written: string[] = [];
  const output = { write: (line: string) => void written.push(line) };
  const logger = createLogger({ app: 'webhook-delivery', level, output });
  const lines = () => written.map((line) => JSON.parse(line) as Record<string, unknown>);
  return { logger, lines, text: () => written.join('') };
}

describe('createLogger (R-40)', () => {
  it('writes one JSON line per event with the level, the app and the fields', () => {
    const { logger, lines } = build();

    logger.info('delivery_attempted', { attempt: 2, statusCode: 503 });

    expect(lines()).toEqual([
      {
        level: 'info',
        time: expect.any(Number),
        app: 'webhook-delivery',
        event: 'delivery_attempted',
        attempt: 2,
        statusCode: 503,
      },
    ]);
  });

  it('writes nothing below its level', () => {
    const { logger, lines } = build('warn');

    logger.info('too_quiet');
    logger.warn('loud_enough');

    expect(lines().map((line) => line['event'])).toEqual(['loud_enough']);
  });

  it('adds the fields of `with` to each line and keeps the names of the line itself unambiguous', () => {
    const { logger, lines } = build();

    logger.with({ partition: 3 }).warn('task_closed', { event: 'x', level: 9 });

    expect(lines()[0]).toMatchObject({ event: 'task_closed', level: 'warn', partition: 3, event_: 'x', level_: 9 });
  });

  it('lets no secret and no payload through, at any depth and in any spelling', () => {
    const { logger, text } = build();
    const hidden = 'S3CRET';

    logger.error('everything_at_once', {
      authorization: hidden,
      secret: hidden,
      clientSecret: hidden,
      body: hidden,
      payload: { latitude: hidden },
      access_token: hidden,
      apiKeys: undefined,
      'X-Service-Signature': hidden,
      nested: { list: [{ headers: { 'Set-Cookie': hidden, 'webhook-signature': hidden } }] },
      map: new Map([['password', hidden]]),
      bytes: Buffer.from(hidden),
      bodyInError: Object.assign(new Error('x', { cause: new Error(`Bearer ${hidden}`) }), {
        response: { body: hidden },
      }),
      message: `postgresql://waypost:${hidden}@db/waypost whsec_${hidden}AAAA wp_${hidden}BBBB Authorization: Bearer ${hidden}`,
    });

    expect(text()).not.toContain(hidden);
    expect(text()).not.toContain(Buffer.from(hidden).toString('base64'));
  });

  it.each(['whsec_', 'wp_', 'wpc_', 'wps_', 'wpa_', 'client_secret='])(
    'finds what begins with %s in text',
    (prefix) => {
      const { logger, text } = build();
      logger.warn('refused', { detail: `POST grant_type=x&${prefix}${'h'.repeat(43)}&scope=y` });
      expect(text()).not.toContain('hhhh');
      expect(text()).toContain(`grant_type=x&${prefix}[redacted]&scope=y`);
    },
  );

  it('keeps what only sounds secret: counts, flags and absence', () => {
    const { logger, lines } = build();

    logger.info('token_renewed', {
      token: null,
      tokenUrl: 'https://id.example.com/token',
      bodyBytes: 12,
      secret: true,
    });

    expect(lines()[0]).toMatchObject({
      token: null,
      tokenUrl: 'https://id.example.com/token',
      bodyBytes: 12,
      secret: true,
    });
  });

  it('logs an error with its name, message, code, stack and cause', () => {
    const { logger, lines } = build();
    const cause = Object.assign(new Error('connect failed'), { code: 'ECONNREFUSED' });

    logger.fatal('app_failed', { error: new TypeError('no broker', { cause }) });

    expect(lines()[0]?.['error']).toMatchObject({
      name: 'TypeError',
      message: 'no broker',
      stack: expect.stringContaining('logger.spec'),
      cause: { message: 'connect failed', code: 'ECONNREFUSED' },
    });
  });

  it('survives fields that refer to themselves', () => {
    const { logger, lines } = build();
    const loop: Record<string, unknown> = { name: 'a' };
    loop['self'] = loop;

    logger.info('loop_logged', { loop });

    expect(lines()[0]?.['loop']).toEqual({ name: 'a', self: '[circular]' });
  });
});
