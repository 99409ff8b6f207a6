/** A server-sent event; null as `data`: only the id to continue after. */
export interface ParsedEvent {
  readonly id: string;
  readonly data: string | null;
}

/** Reads server-sent events (WHATWG HTML, 9.2) from pieces of text that end anywhere. */
export function createEventParser(): (piece: string) => ParsedEvent[] {
  let rest = '';
  let id = '';
  let hasNewId = false;
  let data: string[] = [];

  function readLine(line: string, events: ParsedEvent[]): void {
    if (line === '') {
      if (data.length > 0 || hasNewId) events.push({ id, data: data.length > 0 ? data.join('\n') : null });
      data = [];
      hasNewId = false;
      return;
    }
    const colon = line.indexOf(':');
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (field === 'data') data.push(value);
    if (field === 'id' && !value.includes('\0')) {
      id = value;
      hasNewId = true;
    }
  }

  return (piece) => {
    const events: ParsedEvent[] = [];
    rest += piece;
    // A carriage return at the end may be half of a line break.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const line of lines) readLine(line, events);
    return events;
  };
}
