import { readFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { defineConfig } from 'vitepress';
import { addressOf, pageFiles, root, slugOf, targetOf, titleOf } from '../pages.ts';

const files = pageFiles();
/** Links to code lead there; without it they are text. */
const repositoryUrl = process.env.WAYPOST_REPOSITORY_URL;

/** VitePress names pages by their addresses, and its search by their files. */
const fileAt = new Map(files.map((file) => [addressOf(file), file]));

function group(text, paths, collapsed = true) {
  const found = files.filter((file) =>
    paths.some((path) => (path.endsWith('/') ? dirname(file) === path.slice(0, -1) : file === path)),
  );
  const inOrder = paths.length > 1 ? found.sort((a, b) => paths.indexOf(a) - paths.indexOf(b)) : found;
  return { text, collapsed, items: inOrder.map((file) => ({ text: titleOf(file), link: `/${addressOf(file)}` })) };
}

const grouped = [
  group(
    'Start',
    [
      'docs/README.md',
      'README.md',
      'docs/start/producer.md',
      'docs/start/subscriber.md',
      'docs/start/analyst.md',
      'docs/start/operator.md',
      'docs/start/contributor.md',
      'docs/tour.md',
    ],
    false,
  ),
  group(
    'Guides',
    [
      'docs/operations.md',
      'docs/upgrading.md',
      'docs/sizing.md',
      'docs/threat-model.md',
      'docs/analysts.md',
      'deploy/README.md',
      'examples/README.md',
      'packages/README.md',
      'packages/client/README.md',
      'packages/verify-python/README.md',
      'packages/verify-go/README.md',
    ],
    false,
  ),
  group('Reference', ['docs/reference/']),
  group('How it works', [
    'docs/spec.md',
    'docs/architecture.md',
    'docs/event-flow.md',
    'docs/glossary.md',
    'docs/comparison.md',
    'docs/benchmarks.md',
    'docs/isolation.md',
    'docs/coverage.md',
    'CHANGELOG.md',
    'CONTRIBUTING.md',
  ]),
  group('Decisions', ['docs/decisions/']),
];
const shown = new Set(grouped.flatMap(({ items }) => items.map(({ link }) => link)));
const others = files.filter((file) => !shown.has(`/${addressOf(file)}`));

/** Links of the Markdown are those of the repository: to pages, and to code that the site does not have. */
function repositoryLinks(md) {
  md.core.ruler.push('repository_links', ({ tokens, env }) => {
    const path = env.path.slice(root.length);
    const fromFile = fileAt.get(path) ?? path;
    for (const token of tokens) {
      if (token.type === 'html_block')
        token.content = token.content.replaceAll(/(src|srcset)="(?![./]|https?:)/g, '$1="./');
      const open = [];
      for (const child of token.children ?? []) {
        if (child.type === 'link_close') {
          if (open.pop() === 'file') Object.assign(child, { type: 'span_close', tag: 'span' });
        } else if (child.type === 'link_open') open.push(follow(child, fromFile));
      }
    }
  });
}

function follow(token, fromFile) {
  const href = decodeURI(token.attrGet('href'));
  if (/^([a-z]+:|#)/.test(href)) return 'link';
  const target = targetOf(fromFile, href, files);
  if (target.type === 'page') token.attrSet('href', target.href);
  else if (repositoryUrl !== undefined) token.attrSet('href', `${repositoryUrl}/${target.file}`);
  else {
    Object.assign(token, {
      type: 'span_open',
      tag: 'span',
      attrs: [
        ['class', 'in-repository'],
        ['title', `In the repository: ${target.file}`],
      ],
    });
    return 'file';
  }
  return 'link';
}

function diagrams(md) {
  const { fence } = md.renderer.rules;
  md.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    if (info.trim() !== 'mermaid') return fence(tokens, index, ...rest);
    return `<Diagram source="${encodeURIComponent(content)}" />`;
  };
}

/** The pages are outside of the folder that has Vue; the server build loads it from where its own files are. */
const vueForPages = {
  name: 'vue-for-pages',
  enforce: 'pre',
  resolveId: (id, _importer, { ssr }) => (ssr && /^vue(\/|$)/.test(id) ? { id, external: true } : null),
};

const { version } = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));

export default defineConfig({
  title: 'Waypost',
  description: 'Webhooks for moving things: vehicle pings in from Kafka, signed webhooks out.',
  lang: 'en',
  base: process.env.WAYPOST_SITE_BASE ?? '/',
  srcDir: root,
  outDir: `${root}.waypost/site`,
  cacheDir: `${root}.waypost/site-cache`,
  srcExclude: ['**/.*/**', '**/dist/**', '**/target/**'],
  rewrites: Object.fromEntries(files.map((file) => [file, addressOf(file)])),
  vite: { plugins: [vueForPages] },
  markdown: {
    anchor: { slugify: slugOf },
    config(md) {
      repositoryLinks(md);
      diagrams(md);
    },
  },
  themeConfig: {
    search: { provider: 'local' },
    outline: [2, 3],
    nav: [{ text: `Version ${version}`, link: `/${addressOf('CHANGELOG.md')}` }],
    sidebar: [
      ...grouped,
      {
        text: 'Beside the code',
        collapsed: true,
        items: others.map((file) => ({ text: titleOf(file), link: `/${addressOf(file)}` })),
      },
    ],
  },
});
