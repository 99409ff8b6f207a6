/** A metric in an expression of PromQL, with what is said of it there. */
export interface Selector {
  readonly name: string;
  /** Labels that its matchers name. */
  readonly labels: readonly string[];
  /** It has a range: `[5m]`. */
  readonly isRange: boolean;
  /** It is read as it was: `offset 15m`. */
  readonly isEarlier: boolean;
  /** The function or aggregation around it; null: none. */
  readonly inside: string | null;
}

export interface Expression {
  readonly selectors: readonly Selector[];
  /** Labels after by, without, on and ignoring. */
  readonly groupedBy: readonly string[];
}

const TOKEN =
  /\s*(?:("(?:[^"\\]|\\.)*")|(\d+[smhdw]|\d+(?:\.\d+)?)|([a-zA-Z_:][\w:]*)|(=~|!~|!=|==|<=|>=|[-+*/%^<>=(){}[\],]))/y;
export const RANGE_FUNCTIONS = ['rate', 'increase', 'changes', 'min_over_time', 'max_over_time'];
const FUNCTIONS = ['absent', 'histogram_quantile', 'max', 'min', 'sum', 'topk', ...RANGE_FUNCTIONS];
const GROUPINGS = ['by', 'without', 'on', 'ignoring'];
const OPERATORS = ['or', 'and', 'unless', 'bool'];
const CLOSING: Readonly<Record<string, string>> = { '(': ')', '{': '}', '[': ']' };

/**
 * What an expression uses. It knows the part of PromQL that our files use, and refuses the rest; promtool has the whole
 * grammar (npm run test:alerts).
 */
export function parseExpression(text: string): Expression {
  return new Parser(tokensOf(text), text).parse();
}

function tokensOf(text: string): string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  while (TOKEN.lastIndex < text.trimEnd().length) {
    const found = TOKEN.exec(text);
    if (found === null) throw new Error(`Not understood: ${text}`);
    tokens.push(found[0].trim());
  }
  return tokens;
}

class Parser {
  private readonly selectors: Selector[] = [];
  private readonly groupedBy: string[] = [];
  /** The closing brackets that are awaited, with the function that each belongs to. */
  private readonly open: { readonly closing: string; readonly name: string | null }[] = [];
  private at = 0;

  constructor(
    private readonly tokens: readonly string[],
    private readonly text: string,
  ) {}

  parse(): Expression {
    while (this.at < this.tokens.length) this.step();
    if (this.open.length > 0) throw this.problem(`a missing ${String(this.open.at(-1)?.closing)}`);
    return { selectors: this.selectors, groupedBy: this.groupedBy };
  }

  private step(): void {
    const token = this.next();
    if (/^[a-zA-Z_:]/.test(token)) this.word(token);
    else if (token in CLOSING) this.opens(token, this.open.at(-1)?.name ?? null);
    else if (/^[)\]}]$/.test(token) && this.open.pop()?.closing !== token) throw this.problem(`an unexpected ${token}`);
  }

  private word(word: string): void {
    if (OPERATORS.includes(word)) return;
    if (GROUPINGS.includes(word)) this.groupedBy.push(...this.list('(', ')'));
    else if (FUNCTIONS.includes(word)) this.call(word);
    else if (this.tokens[this.at] === '(') throw this.problem(`an unknown function ${word}`);
    else this.selector(word);
  }

  /** `sum by (a) (...)` or `rate(...)` */
  private call(name: string): void {
    if (GROUPINGS.includes(this.tokens[this.at] ?? '')) this.word(this.next());
    if (this.next() !== '(') throw this.problem(`no bracket after ${name}`);
    this.opens('(', name);
  }

  private selector(name: string): void {
    const labels = this.tokens[this.at] === '{' ? this.matchers() : [];
    const isRange = this.tokens[this.at] === '[';
    if (isRange) this.list('[', ']');
    const isEarlier = this.tokens[this.at] === 'offset';
    if (isEarlier) this.at += 2;
    const inside = this.open.findLast((one) => one.name !== null)?.name ?? null;
    this.selectors.push({ name, labels, isRange, isEarlier, inside });
  }

  private matchers(): string[] {
    const parts = this.list('{', '}');
    const labels: string[] = [];
    for (let index = 0; index < parts.length; index += 3) {
      const [label = '', operator = '', value = ''] = parts.slice(index, index + 3);
      if (!/^\w+$/.test(label) || !/^(=|!=|=~|!~)$/.test(operator) || !value.startsWith('"'))
        throw this.problem(`a matcher ${label}${operator}${value}`);
      labels.push(label);
    }
    return labels;
  }

  /** What stands between two brackets, without commas. */
  private list(opening: string, closing: string): string[] {
    if (this.next() !== opening) throw this.problem(`no ${opening}`);
    const found: string[] = [];
    for (let token = this.next(); token !== closing; token = this.next()) if (token !== ',') found.push(token);
    return found;
  }

  private opens(token: string, name: string | null): void {
    this.open.push({ closing: CLOSING[token] ?? '', name });
  }

  private next(): string {
    const token = this.tokens[this.at++];
    if (token === undefined) throw this.problem('an early end');
    return token;
  }

  private problem(what: string): Error {
    return new Error(`${this.text}: ${what}`);
  }
}
