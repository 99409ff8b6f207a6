import ts from 'typescript';

export interface Interpolation {
  readonly line: number;
  /** The expression as in the source. */
  readonly expression: string;
}

/** Words that mark a text as SQL, in capitals as they are written throughout. */
const SQL =
  /\b(SELECT|INSERT INTO|UPDATE|DELETE FROM|FROM|WHERE|VALUES|LIMIT|ORDER BY|CREATE (TABLE|INDEX|UNIQUE|DATABASE|TYPE)|ALTER TABLE|DROP (TABLE|INDEX|DATABASE)|TRUNCATE|COPY|LISTEN|NOTIFY|EXECUTE|SET LOCAL)\b/;
/** Module constants are SQL that we wrote. */
const CONSTANT = /^[A-Z][A-Z0-9_]*$/;

/**
 * Finds what is put into SQL text in this source by `${}` or `+`, constants aside. Everything from outside belongs into
 * a parameter ($1), which the server never reads as SQL.
 */
export function interpolationsInSql(fileName: string, text: string): Interpolation[] {
  const source = ts.createSourceFile(fileName, text, ts.ScriptTarget.Latest, true);
  const found: Interpolation[] = [];
  const add = (expression: ts.Expression): void => {
    const written = expression.getText(source).replaceAll(/\s+/g, ' ');
    if (CONSTANT.test(written)) return;
    found.push({
      line: source.getLineAndCharacterOfPosition(expression.getStart(source)).line + 1,
      expression: written,
    });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTemplateExpression(node) && SQL.test(textOf(node))) {
      for (const { expression } of node.templateSpans) add(expression);
    }
    if (isConcatenation(node)) {
      const parts = [node.left, node.right];
      const isSql = parts.some((part) => ts.isStringLiteralLike(part) && SQL.test(part.text));
      if (isSql) for (const part of parts) if (!isText(part)) add(part);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function textOf({ head, templateSpans }: ts.TemplateExpression): string {
  return [head.text, ...templateSpans.map(({ literal }) => literal.text)].join(' ');
}

function isConcatenation(node: ts.Node): node is ts.BinaryExpression {
  return ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.PlusToken;
}

/** Literals, and concatenations of them, which are checked by themselves. */
function isText(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node) || isConcatenation(node);
}
