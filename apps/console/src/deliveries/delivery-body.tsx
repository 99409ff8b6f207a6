import { useState } from 'react';
import type { V2Event } from '@waypost/client';
import { CopyButton } from '../shared/copy-button.js';
import { Segments } from '../shared/segments.js';
import { curlCommand } from './curl-command.js';

const VIEWS = [
  { value: 'pretty', title: 'Pretty' },
  { value: 'sent', title: 'As sent' },
] as const;

interface DeliveryBodyProps {
  readonly item: V2Event;
  /** Where its subscription sends now: the history of v2 does not say where it sent then. */
  readonly url: string | undefined;
}

/** What was sent, to be read or to be compared byte by byte: its signature is over the bytes. */
export function DeliveryBody({ item, url }: DeliveryBodyProps) {
  const { eventId, subscriptionId, format, payload, body = '' } = item;
  const [view, setView] = useState<(typeof VIEWS)[number]['value']>('pretty');
  return (
    <details open>
      <summary>Body in {format}</summary>
      <div className="actions">
        <Segments label="View of the body" options={VIEWS} value={view} onChange={setView} />
        <CopyButton text={body}>Copy as sent</CopyButton>
        {url !== undefined && (
          <CopyButton text={curlCommand({ url, body, eventId, subscriptionId })}>Copy as curl</CopyButton>
        )}
      </div>
      <pre tabIndex={0} className={view === 'sent' ? 'sent' : ''} aria-label="Body">
        {view === 'sent' ? body : JSON.stringify(payload, null, 2)}
      </pre>
    </details>
  );
}
