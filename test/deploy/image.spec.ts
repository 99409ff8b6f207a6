import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readDockerfile } from './image/dockerfile.js';
import { APPLICATIONS, textOf } from './testing/deploy-files.js';

const image = readDockerfile(textOf('Dockerfile'));
const isInCheckout = (path: string): boolean => existsSync(new URL(`../../${path}`, import.meta.url));

describe('the image (R-40)', () => {
  it('runs as a user without rights, who owns nothing but /data', () => {
    expect(image.user).toBe('65532:65532');
    expect(textOf('Dockerfile').match(/--chown=\S+ \S+/g)).toEqual(['--chown=65532:65532 /data']);
    expect(image.workDir).toBe('/data');
  });

  it('has no packages of development, and none of a workspace', () => {
    expect(image.copies.find(({ target }) => target.endsWith('/node_modules'))?.stage).toBe('dependencies');
    expect(image.installOf('dependencies')).toEqual(expect.arrayContaining(['ci', '--omit=dev', '--workspaces=false']));
  });

  it('is built with the packages of every workspace', () => {
    const { workspaces } = JSON.parse(textOf('package.json')) as { workspaces: readonly string[] };
    const copied = [...textOf('Dockerfile').matchAll(/^COPY (\S+)\/package\.json \1\/$/gm)].map(([, folder]) => folder);
    expect(copied).toEqual(workspaces);
  });

  it('starts every application, and each program that it names has a source', () => {
    const programs = [...textOf('deploy/image/start.mjs').matchAll(/^ {2}'?([\w-]+)'?: '(.*)\.js',$/gm)];
    expect(programs.map(([, name]) => name)).toEqual(expect.arrayContaining([...APPLICATIONS, 'waypost']));
    const copied = image.copies.flatMap(({ sources }) => sources);
    for (const [, , path = ''] of programs) {
      expect([path, isInCheckout(`${path}.ts`)]).toEqual([path, true]);
      expect(copied.some((source) => `/waypost/dist/${path}`.startsWith(`${source}/`))).toBe(true);
    }
  });

  it('has every file that a program of it imports', () => {
    const folders = image.copies.flatMap(({ sources }) => sources.map((path) => path.replace('/waypost/dist/', '')));
    const programs = ['tools/simulator/main.ts', 'tools/demo-subscriber/main.ts'];
    const files = new Set(programs);
    for (const file of files)
      for (const [, path = ''] of textOf(file).matchAll(/(?:from |import\()'(\.\.?\/[^']+)\.js'/g))
        files.add(join(dirname(file), `${path}.ts`));
    expect(files.size).toBeGreaterThan(10);
    expect([...files].filter((file) => !folders.some((folder) => file.startsWith(`${folder}/`)))).toEqual([]);
  });

  it('has the health check at the admin port that it sets, and declares both ports', () => {
    expect(image.env).toMatchObject({ WAYPOST_ADMIN_PORT: '9300', WAYPOST_ADMIN_HOST: '0.0.0.0' });
    expect(image.ports).toEqual([8080, 9300]);
    for (const script of [image.healthCheck[1], image.entryPoint[1]]) {
      expect(isInCheckout(String(script).replace('/waypost/', ''))).toBe(true);
    }
  });

  it('lets the command line find the application of its container, and leaves the applications as they are configured', () => {
    expect(image.env).not.toHaveProperty('WAYPOST_ADMIN_URLS');
    const root = mkdtempSync(join(tmpdir(), 'waypost-start-'));
    cpSync(new URL('../../deploy/image', import.meta.url), join(root, 'deploy/image'), { recursive: true });
    for (const app of ['cli', 'public-api']) {
      const main = join(root, 'dist/apps', app, 'src/main.js');
      mkdirSync(dirname(main), { recursive: true });
      writeFileSync(main, 'console.log(process.env.WAYPOST_ADMIN_URLS, process.env.WAYPOST_API_URL);');
    }
    const urlsOf = (program: string, env: Readonly<Record<string, string>> = {}): string =>
      spawnSync(process.execPath, [join(root, 'deploy/image/start.mjs'), program], {
        env: { ...image.env, ...env },
        encoding: 'utf8',
      }).stdout.trim();
    expect(urlsOf('public-api', { WAYPOST_PORT: '8080' })).toBe('undefined undefined');
    expect(urlsOf('waypost')).toBe('http://127.0.0.1:9300 undefined');
    expect(urlsOf('waypost', { WAYPOST_PORT: '8080' })).toBe('http://127.0.0.1:9300 http://127.0.0.1:8080');
    const others = { WAYPOST_ADMIN_URLS: 'http://other:1', WAYPOST_API_URL: 'http://other:2' };
    expect(urlsOf('waypost', { ...others, WAYPOST_PORT: '8080' })).toBe('http://other:1 http://other:2');
    rmSync(root, { recursive: true });
  });

  it('is built from all that the build reads, and from nothing that holds data or keys', () => {
    const ignored = textOf('.dockerignore').split('\n');
    const build = textOf('tools/dev-stack/bootstrap/ensure-built.mjs');
    const names = [...build.matchAll(/^const (?:FOLDERS|SETTINGS) = \[(.*)\];$/gm)].flatMap(([, list = '']) =>
      list.split(', ').map((name) => name.replaceAll("'", '')),
    );
    expect(names).toContain('apps');
    for (const name of [...names, 'package.json', '.npmrc', 'LICENSE']) expect(ignored).toContain(`!${name}`);
    expect(ignored).toContain('*');
    expect(ignored).not.toContain('!.waypost');
    expect(ignored).not.toContain('!.env');
  });
});
