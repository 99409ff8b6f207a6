import { ShellHint } from '../session/shell-hint.js';
import { CopyButton } from '../shared/copy-button.js';

/** For those who have no receiver yet: one file without packages, which prints what it gets. */
export function TrialEndpoint() {
  return (
    <ShellHint>
      <details>
        <summary>An endpoint to try it</summary>
        <p className="hint">
          Save this as <code>receiver.mjs</code> on the machine that Waypost runs on, run <code>node receiver.mjs</code>
          , and enter <code>http://127.0.0.1:9000/</code> above. If Waypost runs elsewhere, it needs an address that it
          can reach.
        </p>
        <pre tabIndex={0}>{RECEIVER}</pre>
        <CopyButton text={RECEIVER}>Copy the receiver</CopyButton>
      </details>
    </ShellHint>
  );
}

const RECEIVER = `import { createServer } from 'node:http';

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  console.log(request.headers['webhook-id'], String(Buffer.concat(chunks)));
  response.writeHead(204).end();
}).listen(9000, '127.0.0.1', () => console.log('listening on http://127.0.0.1:9000/'));
`;
