import ts from 'typescript';

/** One small change of one source file. Offsets are UTF-16 code units of its text. */
export interface Mutant {
  readonly line: number;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
  readonly mutator: string;
  /** The innermost enclosing function, as numbered by `instrumented`; -1: none. */
  readonly scope: number;
}

const { SyntaxKind } = ts;

/** Each operator with its replacements: the other boundary and the opposite, or another operation. */
const OPERATORS: Readonly<Record<string, readonly [mutator: string, ...operators: string[]]>> = {
  '<': ['boundary', '<=', '>='],
  '<=': ['boundary', '<', '>'],
  '>': ['boundary', '>=', '<='],
  '>=': ['boundary', '>', '<'],
  '===': ['equality', '!=='],
  '!==': ['equality', '==='],
  '&&': ['logic', '||'],
  '||': ['logic', '&&'],
  '??': ['logic', '&&'],
  '+': ['arithmetic', '-'],
  '-': ['arithmetic', '+'],
  '*': ['arithmetic', '/'],
  '/': ['arithmetic', '*'],
  '%': ['arithmetic', '*'],
  '&': ['arithmetic', '|'],
  '|': ['arithmetic', '&'],
  '<<': ['arithmetic', '>>'],
  '>>': ['arithmetic', '<<'],
  '+=': ['assignment', '-='],
  '-=': ['assignment', '+='],
  '??=': ['assignment', '='],
};

const METHODS: Readonly<Record<string, string>> = {
  min: 'max',
  max: 'min',
  some: 'every',
  every: 'some',
  floor: 'ceil',
  ceil: 'floor',
  round: 'floor',
  unshift: 'push',
  push: 'unshift',
  shift: 'pop',
  startsWith: 'endsWith',
};

/** All changes of a file. Leaves alone what no test can or should see: types, imports, decorators, messages and logs. */
export function mutantsOf(text: string): Mutant[] {
  const file = parse(text);
  const found: Mutant[] = [];
  let scopes = 0;
  const visit = (node: ts.Node, outer: number): void => {
    if (isIgnored(node)) return;
    const scope = bodyOf(node) === undefined ? outer : scopes++;
    for (const [target, mutator, replacement] of changesOf(node)) {
      const start = target.getStart(file);
      const line = file.getLineAndCharacterOfPosition(start).line + 1;
      found.push({ line, start, end: target.getEnd(), replacement, mutator, scope });
    }
    if (!ts.isThrowStatement(node)) ts.forEachChild(node, (child) => visit(child, scope));
  };
  visit(file, -1);
  return found;
}

export function mutated(text: string, { start, end, replacement }: Mutant): string {
  return text.slice(0, start) + replacement + text.slice(end);
}

/** The text with a call of `globalThis.mutationHit(name, scope)` at the start of each function and at the end of the file. */
export function instrumented(text: string, name: string): string {
  const file = parse(text);
  const inserts: (readonly [at: number, text: string])[] = [[text.length, `\n;${hit(name, -1)};`]];
  let scopes = 0;
  const visit = (node: ts.Node): void => {
    if (isIgnored(node)) return;
    const body = bodyOf(node);
    if (body !== undefined) {
      const call = hit(name, scopes++);
      if (ts.isBlock(body)) inserts.push([body.getStart(file) + 1, `${call};`]);
      else inserts.push([body.getStart(file), `(${call},`], [body.getEnd(), ')']);
    }
    if (!ts.isThrowStatement(node)) ts.forEachChild(node, visit);
  };
  visit(file);
  // Sorted from the end, so that offsets stay valid; of two at the same place the inner one comes first.
  const ordered = inserts.map((insert, index) => ({ insert, index })).sort(byPlace);
  return ordered.reduce((result, { insert: [at, part] }) => result.slice(0, at) + part + result.slice(at), text);
}

interface Placed {
  readonly insert: readonly [at: number, text: string];
  readonly index: number;
}

function byPlace(a: Placed, b: Placed): number {
  return b.insert[0] - a.insert[0] || (a.insert[1] === ')' ? a.index - b.index : b.index - a.index);
}

function hit(name: string, scope: number): string {
  return `globalThis.mutationHit?.(${JSON.stringify(name)},${String(scope)})`;
}

function parse(text: string): ts.SourceFile {
  return ts.createSourceFile('source.ts', text, ts.ScriptTarget.ES2023, true);
}

function bodyOf(node: ts.Node): ts.Node | undefined {
  return ts.isFunctionLike(node) && 'body' in node ? node.body : undefined;
}

function isIgnored(node: ts.Node): boolean {
  if (ts.isTypeNode(node) && !ts.isExpressionWithTypeArguments(node)) return true;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node) || ts.isDecorator(node)) return true;
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return true;
  if (ts.isNewExpression(node) && node.expression.getText().endsWith('Error')) return true;
  return isCallOf(node, /(^|\.)(logger|log)\??\.(trace|debug|info|warn|error)$|^Symbol$/);
}

function isCallOf(node: ts.Node, name: RegExp): boolean {
  return ts.isCallExpression(node) && name.test(node.expression.getText());
}

type Change = readonly [target: ts.Node, mutator: string, replacement: string];

function changesOf(node: ts.Node): Change[] {
  if (ts.isBinaryExpression(node)) return ofBinary(node);
  if (ts.isIfStatement(node)) return ofCondition(node.expression);
  if (ts.isConditionalExpression(node)) return ofCondition(node.condition);
  if (ts.isWhileStatement(node)) return [[node.expression, 'condition', 'false']];
  if (ts.isPrefixUnaryExpression(node)) return ofPrefix(node);
  if (ts.isPostfixUnaryExpression(node)) return [[node, 'assignment', swapStep(node.getText())]];
  if (ts.isExpressionStatement(node)) return ofStatement(node);
  if (ts.isThrowStatement(node)) return [[node, 'removed throw', ';']];
  if (ts.isReturnStatement(node)) return ofReturn(node);
  if (ts.isCallExpression(node)) return ofCall(node);
  if (ts.isPropertyAccessExpression(node) || ts.isCallChain(node)) return ofChain(node);
  return ofLiteral(node);
}

function ofBinary({ left, operatorToken, right }: ts.BinaryExpression): Change[] {
  const isText = [left, right].some((side) => ts.isStringLiteralLike(side) || ts.isTemplateExpression(side));
  const [mutator, ...operators] = OPERATORS[operatorToken.getText()] ?? [];
  if (mutator === undefined || (isText && mutator === 'arithmetic')) return [];
  return operators.map((operator) => [operatorToken, mutator, operator]);
}

function ofCondition(condition: ts.Expression): Change[] {
  return ['true', 'false'].map((value) => [condition, 'condition', value]);
}

function ofPrefix(node: ts.PrefixUnaryExpression): Change[] {
  const operand = node.operand.getText();
  if (node.operator === SyntaxKind.ExclamationToken) return [[node, 'negation', `(${operand})`]];
  if (node.operator === SyntaxKind.MinusToken) return [[node, 'negation', `(+${operand})`]];
  if (node.operator === SyntaxKind.TildeToken) return [[node, 'negation', `(${operand})`]];
  return [[node, 'assignment', swapStep(node.getText())]];
}

function swapStep(text: string): string {
  return text.includes('++') ? text.replace('++', '--') : text.replace('--', '++');
}

/** Removes a call or an assignment that is a statement. */
function ofStatement(node: ts.ExpressionStatement): Change[] {
  return isCallOf(node.expression, /^super$/) || isIgnored(node.expression) ? [] : [[node, 'removed statement', ';']];
}

function ofReturn({ expression }: ts.ReturnStatement): Change[] {
  return expression === undefined || isNothing(expression) ? [] : [[expression, 'returned value', 'undefined']];
}

function isNothing(node: ts.Expression): boolean {
  return node.kind === SyntaxKind.NullKeyword || /^(undefined|true|false|null)$/.test(node.getText());
}

function ofCall({ expression, arguments: args }: ts.CallExpression): Change[] {
  if (!ts.isPropertyAccessExpression(expression)) return [];
  const { name, expression: target } = expression;
  const other = METHODS[name.text];
  const changes: Change[] = other === undefined ? [] : [[name, 'method', other]];
  const isFilter = ['filter', 'sort', 'toSorted', 'reverse', 'slice'].includes(name.text);
  if (isFilter) changes.push([expression.parent, 'method', args.length < 3 ? target.getText() : 'undefined']);
  return changes;
}

function ofChain(node: ts.PropertyAccessExpression | ts.CallChain): Change[] {
  const token = node.questionDotToken;
  return token === undefined ? [] : [[token, 'optional chain', ts.isCallChain(node) ? '' : '.']];
}

function ofLiteral(node: ts.Node): Change[] {
  if (node.kind === SyntaxKind.TrueKeyword) return [[node, 'boolean', 'false']];
  if (node.kind === SyntaxKind.FalseKeyword) return [[node, 'boolean', 'true']];
  if (ts.isNumericLiteral(node)) return [[node, 'number', otherNumber(Number(node.text))]];
  if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) return [[node, 'text', '``']];
  if (ts.isStringLiteral(node) && !isCheckedByCompiler(node))
    return [[node, 'text', node.text === '' ? "'mutated'" : "''"]];
  if (ts.isArrayLiteralExpression(node) && node.elements.length > 0) return [[node, 'array', '[]']];
  return ts.isArrowFunction(node) && !ts.isBlock(node.body) && !isNothing(node.body)
    ? [[node.body, 'returned value', 'undefined']]
    : [];
}

/** Adding one is harmless for a time-out of 20,000 ms; doubling it is not. */
function otherNumber(value: number): string {
  return String(Number.isInteger(value) && value < 10 ? value + 1 : value * 2);
}

/** A name, or a word that is almost always one of a union: another one would not compile. */
function isCheckedByCompiler(node: ts.StringLiteral): boolean {
  const { parent } = node;
  if (ts.isPropertyAssignment(parent) && parent.name === node) return true;
  return /^[a-z][a-z_0-9]*$/.test(node.text) && !ts.isArrayLiteralExpression(parent) && !ts.isCallExpression(parent);
}
