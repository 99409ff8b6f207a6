import { readdir, readFile } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import ts from 'typescript';

/** A rule as docs/spec.md has it. */
export interface Rule {
  /** For example `R-34a`. */
  readonly id: string;
  readonly title: string;
  /** False if all statements are planned: such a rule has neither code nor tests. */
  readonly isBuilt: boolean;
  readonly hasPlannedParts: boolean;
}

export interface TestTitle {
  readonly file: string;
  /** The titles of the enclosing `describe` blocks and the test's own, joined. */
  readonly title: string;
}

export interface RuleCoverage extends Rule {
  /** Files of production code that cite the rule, relative to the root. */
  readonly code: readonly string[];
  /** Those of them in which a comment begins with its number: they decide the rule, the others depend on it. */
  readonly decidedIn: readonly string[];
  readonly tests: readonly TestTitle[];
  readonly docs: readonly string[];
}

const CODE_ROOTS = ['apps', 'libs', 'packages', 'tools', 'schemas', 'examples'];
const TEST_ROOTS = ['apps', 'libs', 'packages', 'tools', 'test', 'bench', 'examples'];
const CODE_TYPES = new Set(['.ts', '.mjs', '.js', '.py', '.go', '.java', '.avsc']);
const TEST_FILE = /\.(spec|contract)\.ts$/;
/** Files that are not read: they are derived from others, or are the source of this page. */
const IGNORED =
  /(^|\/)(node_modules|dist|generated|testing)\/|^schemas\/(webhooks|asyncapi)\/|^docs\/(spec|coverage)\.md$/;
/** `R-3:` at the start of a comment, or `R-16, R-19:`. */
const LEADING = /(?:\/\*\*|\/\/|^\s*\*) ?((?:R-\d+a?(?:, | and )?)+):/gm;
const CITATION = /(?<![\w-])R-\d+a?(?![\w-])/g;

/** Finds what cites each rule of docs/spec.md. `root`: the project's folder. */
export async function readCoverage(root: string): Promise<RuleCoverage[]> {
  const rules = parseRules(await readFile(join(root, 'docs/spec.md'), 'utf8'));
  const code = new Map<string, string[]>();
  const decidedIn = new Map<string, string[]>();
  const tests = new Map<string, TestTitle[]>();
  const docs = new Map<string, string[]>();
  for (const file of await filesOf(root, CODE_ROOTS)) {
    if (!CODE_TYPES.has(extname(file)) || TEST_FILE.test(file)) continue;
    const text = await readFile(join(root, file), 'utf8');
    for (const id of citations(text)) add(code, id, file);
    for (const id of decidedRules(text)) add(decidedIn, id, file);
  }
  for (const file of await filesOf(root, TEST_ROOTS)) {
    if (!TEST_FILE.test(file)) continue;
    const text = await readFile(join(root, file), 'utf8');
    if (citations(text).size === 0) continue;
    for (const title of titlesOf(file, text)) for (const id of citations(title)) add(tests, id, { file, title });
  }
  for (const file of await filesOf(root, ['docs'])) {
    if (extname(file) !== '.md') continue;
    for (const id of citations(await readFile(join(root, file), 'utf8'))) add(docs, id, file);
  }
  return rules.map((rule) => ({
    ...rule,
    code: code.get(rule.id) ?? [],
    decidedIn: decidedIn.get(rule.id) ?? [],
    tests: tests.get(rule.id) ?? [],
    docs: docs.get(rule.id) ?? [],
  }));
}

/** @throws Error if a statement says neither where it comes from nor that it is planned */
export function parseRules(spec: string): Rule[] {
  return spec
    .split(/^### /m)
    .slice(1)
    .map((section) => {
      const [heading = '', ...lines] = section.split('\n');
      const [id = '', ...title] = heading.split(' ');
      const statements = lines.filter((line) => line.startsWith('- '));
      const unmarked = statements.find((line) => !/^- (Source|Choice|Planned): /.test(line));
      if (!/^R-\d+a?$/.test(id) || statements.length === 0 || unmarked !== undefined) {
        throw new Error(`docs/spec.md: "### ${heading}" needs a rule number and marked statements. ${unmarked ?? ''}`);
      }
      const planned = statements.filter((line) => line.startsWith('- Planned: ')).length;
      return { id, title: title.join(' '), isBuilt: planned < statements.length, hasPlannedParts: planned > 0 };
    });
}

/** The titles of `describe`, `it` and `test`, where the nearest one to a citation is the last part. */
export function titlesOf(file: string, text: string): string[] {
  const titles: string[] = [];
  const visit = (node: ts.Node, parents: readonly string[]): void => {
    const title = titleOf(node);
    const path = title === undefined ? parents : [...parents, title];
    if (title !== undefined) {
      CITATION.lastIndex = 0;
      if (CITATION.test(title)) titles.push(path.join(' › '));
    }
    ts.forEachChild(node, (child) => visit(child, path));
  };
  visit(ts.createSourceFile(file, text, ts.ScriptTarget.ES2022), []);
  return titles;
}

function titleOf(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  const [first] = node.arguments;
  if (first === undefined || !/^(describe|it|test)$/.test(rootName(node.expression))) return undefined;
  if (ts.isStringLiteralLike(first)) return first.text;
  if (!ts.isTemplateExpression(first)) return undefined;
  return first.head.text + first.templateSpans.map(({ literal }) => `…${literal.text}`).join('');
}

/** Returns `it` for `it.each([...])('...')`. */
function rootName(expression: ts.Expression): string {
  if (ts.isIdentifier(expression)) return expression.text;
  if (ts.isPropertyAccessExpression(expression) || ts.isCallExpression(expression))
    return rootName(expression.expression);
  return '';
}

/** The rules whose numbers begin a comment. */
export function decidedRules(text: string): Set<string> {
  return citations([...text.matchAll(LEADING)].map(([, rules]) => rules).join(' '));
}

function citations(text: string): Set<string> {
  return new Set(text.match(CITATION) ?? []);
}

function add<Value>(map: Map<string, Value[]>, id: string, value: Value): void {
  const values = map.get(id);
  if (values === undefined) map.set(id, [value]);
  else values.push(value);
}

async function filesOf(root: string, folders: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  for (const folder of folders) {
    const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      if (!entry.isFile()) continue;
      const file = join(entry.parentPath, entry.name).slice(join(root, '/').length);
      if (!IGNORED.test(file)) files.push(file);
    }
  }
  return files.sort();
}

/** docs/coverage.md: a summary, then code, tests and docs per rule. */
export function coveragePage(rules: readonly RuleCoverage[]): string {
  return [
    '# Coverage of the rules',
    '',
    'Generated by `npm run codegen` from comments that cite a rule and from test titles; do not edit. What each rule says is in',
    '[spec.md](spec.md). A rule that is built has code and tests, else a test fails. It is decided in the files where a comment begins with',
    'its number, as `R-3: ...`; the others cite it because they depend on it.',
    '',
    '| Rule | | State | Files of code | Tests |',
    '| --- | --- | --- | --: | --: |',
    ...rules.map(summaryRow),
    '',
    ...rules.filter(({ isBuilt }) => isBuilt).flatMap(section),
  ].join('\n');
}

function anchor({ id, title }: Rule): string {
  return `${id} ${title}`
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replace(/ /g, '-');
}

function summaryRow(rule: RuleCoverage): string {
  const { id, title, isBuilt, hasPlannedParts, code, tests } = rule;
  const name = `[${id}](${isBuilt ? '' : 'spec.md'}#${anchor(rule)})`;
  if (!isBuilt) return `| ${name} | ${title} | planned | | |`;
  const state = hasPlannedParts ? 'built, parts planned' : 'built';
  return `| ${name} | ${title} | ${state} | ${String(code.length)} | ${String(tests.length)} |`;
}

function section(rule: RuleCoverage): string[] {
  const links = (files: readonly string[]): string => files.map((file) => link(file)).join(', ');
  const docs = [`[spec.md](spec.md#${anchor(rule)})`, ...rule.docs.map((file) => link(file))].join(', ');
  return [
    `## ${rule.id} ${rule.title}`,
    '',
    ...codeLines(rule).flatMap(([heading, files]) => (files.length === 0 ? [] : [`${heading}: ${links(files)}.`, ''])),
    'Tests:',
    '',
    ...rule.tests.map(({ file, title }) => `- ${link(file)}: ${escapeMarkdown(title)}`),
    '',
    `Docs: ${docs}.`,
    '',
  ];
}

function codeLines({ code, decidedIn }: RuleCoverage): [heading: string, files: readonly string[]][] {
  if (decidedIn.length === 0) return [['Code', code]];
  return [
    ['Decided in', decidedIn],
    ['Cited in', code.filter((file) => !decidedIn.includes(file))],
  ];
}

function link(file: string): string {
  return file.startsWith('docs/')
    ? `[${basename(file)}](${file.slice('docs/'.length)})`
    : `[${basename(file)}](../${file})`;
}

function escapeMarkdown(text: string): string {
  return text.replace(/[\\`*_{}<>[\]|%$]/g, (char) => (/[%$]/.test(char) ? char : `\\${char}`));
}
