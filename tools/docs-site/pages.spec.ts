import { describe, expect, it } from '@jest/globals';
import { addressOf, pageFiles, slugOf, targetOf } from './pages.js';

const files = pageFiles();

describe('The pages of the documentation site', () => {
  it('have an address each, and the start is the first', () => {
    expect(new Set(files.map(addressOf)).size).toBe(files.length);
    expect(addressOf('docs/README.md')).toBe('index.md');
    expect(addressOf('docs/reference/api.md')).toBe('reference/api.md');
    expect(addressOf('packages/client/README.md')).toBe('packages/client/index.md');
  });

  it.each([
    ['another page', '../operations.md#alerts', { type: 'page', href: '/operations.md#alerts' }],
    ['a heading of the same page', '#rules', { type: 'page', href: '/reference/api.md#rules' }],
    ['a folder with a page of its own', '../../deploy/', { type: 'page', href: '/deploy/index.md' }],
    ['a folder of pages', '../decisions', { type: 'page', href: '/decisions/0001-own-group-fetch-and-produce.md' }],
    ['code, which the site does not have', '../../Dockerfile', { type: 'file', file: 'Dockerfile' }],
  ])('take the links of the Markdown: to %s', (_what, link, target) => {
    expect(targetOf('docs/reference/api.md', link, files)).toEqual(target);
  });

  it('refuse a link that leads nowhere', () => {
    expect(() => targetOf('docs/tour.md', 'toor.md', files)).toThrow('docs/tour.md has a dead link: toor.md');
  });

  it('name headings as forges do, so that anchors of the Markdown hold', () => {
    expect(slugOf('read: exports that can be resumed')).toBe('read-exports-that-can-be-resumed');
    expect(slugOf("The database's schema and a standby")).toBe('the-databases-schema-and-a-standby');
  });
});
