import { describe, expect, it } from '@jest/globals';
import { BootError, parseConfig } from '@waypost/platform';
import { mapTilesConfig } from './map-tiles-config.js';

const ATTRIBUTION = '© Example, © OpenStreetMap contributors';

function read(url: string, attribution: string | undefined = ATTRIBUTION) {
  return parseConfig(mapTilesConfig, { WAYPOST_MAP_TILE_URL: url, WAYPOST_MAP_ATTRIBUTION: attribution });
}

function refusalOf(url: string, attribution?: string): string {
  try {
    read(url, attribution);
  } catch (error) {
    if (error instanceof BootError) return error.message;
    throw error;
  }
  return 'It was taken.';
}

describe('the tiles of the maps', () => {
  it('are none unless they are configured', () => {
    expect(parseConfig(mapTilesConfig, {})).toBeNull();
  });

  it.each([
    ['https://tiles.example.com/{z}/{x}/{y}.png', 'https://tiles.example.com'],
    ['https://tiles.example.com:8443/v1/{z}/{y}/{x}@2x.webp?key=a-b&lang=en', 'https://tiles.example.com:8443'],
    ['http://127.0.0.1:9000/t?z={z}&x={x}&y={y}', 'http://127.0.0.1:9000'],
  ])('come from the host of %s and from no other', (url, origin) => {
    expect(read(url)).toEqual({ url, origin, attribution: ATTRIBUTION });
  });

  it.each([
    'tiles.example.org/{z}/{x}/{y}.png',
    'ftp://tiles.example.com/{z}/{x}/{y}.png',
    "javascript:alert('{z}{x}{y}')",
    'data:image/png;base64,{z}/{x}/{y}',
    'https://tiles.example.com/{z}/{x}.png',
    'https://tiles.example.com/{z}/{x}/{x}/{y}.png',
    'https://tiles.example.com/{z}/{x}/{y}/{r}.png',
    'https://{z}.example.com/{x}/{y}/{z}.png',
    'https://*/{z}/{x}/{y}.png',
    'https://*.example.com/{z}/{x}/{y}.png',
    "https://a;script-src 'unsafe-inline'/{z}/{x}/{y}.png",
    'https://a;script-src/{z}/{x}/{y}.png',
    'https://a,b.example/{z}/{x}/{y}.png',
    'https://user:password@tiles.example.com/{z}/{x}/{y}.png',
    'https://tiles.example.com:99999/{z}/{x}/{y}.png',
    'https://tiles.example.com:443/{z}/{x}/{y}.png',
    'https://0x7f.1/{z}/{x}/{y}.png',
    'https://tiles.example.com/{z}/{x}/{y}.png"onerror=',
    'https://tiles.example.com/\n{z}/{x}/{y}.png',
  ])('are refused at the start for the template %j', (url) => {
    const refusal = refusalOf(url);
    expect(refusal).toContain(
      'WAYPOST_MAP_TILE_URL is not usable: it must be an http or https URL with {z}, {x} and {y}',
    );
    expect(refusal).not.toContain(url);
  });

  it('name who made them, or are not shown', () => {
    expect(refusalOf('https://tiles.example.com/{z}/{x}/{y}.png', '')).toContain('WAYPOST_MAP_ATTRIBUTION is missing');
    expect(refusalOf('')).toContain('WAYPOST_MAP_TILE_URL is missing');
    expect(refusalOf('https://t.example/{z}/{x}/{y}.png', 'x'.repeat(201))).toContain('at most 200 characters');
  });
});
