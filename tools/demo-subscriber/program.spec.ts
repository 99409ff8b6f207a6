import { expect, it } from '@jest/globals';
import { consoleLink } from './program.js';

it.each(['http://127.0.0.1:8080', 'http://127.0.0.1:8080/'])(
  'the link of a demonstration signs in to the console at %s',
  (url) => {
    expect(consoleLink(url, 'wp_abc')).toBe('http://127.0.0.1:8080/#key=wp_abc');
  },
);
