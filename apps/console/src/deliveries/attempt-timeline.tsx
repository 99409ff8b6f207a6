import type { CSSProperties } from 'react';
import type { V2Event } from '@waypost/client';
import { Moment } from '../shared/moment.js';
import { statusCodeText } from '../shared/status-code-text.js';
import { durationText } from '../shared/time-text.js';
import { sameResponseBefore } from './repeated-response.js';
import { timeMarks } from './time-marks.js';

type Delivery = V2Event['delivery'];
type Attempt = Delivery['attempts'][number];

/** The attempts in their order, each as far along as it was late after the first, with what came back. */
export function AttemptTimeline({ delivery }: { readonly delivery: Delivery }) {
  const { attempts, firstAttemptAt, nextAttemptAt } = delivery;
  if (firstAttemptAt === undefined) return null;
  const startMs = Date.parse(firstAttemptAt);
  const endMs = Math.max(...attempts.map((attempt) => Date.parse(attempt.startedAt) + attempt.durationMs), startMs + 1);
  const spanMs = endMs - startMs;
  return (
    <>
      <ol className="timeline">
        {attempts.map((attempt, index) => (
          <AttemptLine
            key={index}
            attempt={attempt}
            sameBefore={sameResponseBefore(attempts, index)}
            startMs={startMs}
            spanMs={spanMs}
          />
        ))}
        {nextAttemptAt !== undefined && (
          <li className="hint next">
            <span>Next attempt</span>
            <Moment iso={nextAttemptAt} isExact />
          </li>
        )}
      </ol>
      {attempts.length > 1 && <Axis spanMs={spanMs} />}
    </>
  );
}

/** From the first attempt to the end of the last. */
function Axis({ spanMs }: { readonly spanMs: number }) {
  return (
    <p className="timeline-axis hint" aria-hidden="true">
      {timeMarks(spanMs).map((ms) => (
        <span key={ms} style={placeAt(ms / spanMs)}>
          {ms === 0 ? '0 s' : durationText(ms)}
        </span>
      ))}
    </p>
  );
}

function placeAt(share: number): CSSProperties {
  return { '--share': share } as CSSProperties;
}

/** The whole time line, in units of its drawing, and the least of it that can be seen. */
const BAR = 1_000;
const MIN_BAR = 6;

interface AttemptLineProps {
  readonly attempt: Attempt;
  /** That got the same response. */
  readonly sameBefore: Attempt | null;
  readonly startMs: number;
  readonly spanMs: number;
}

function AttemptLine({ attempt, sameBefore, startMs, spanMs }: AttemptLineProps) {
  const { dueAt, startedAt, durationMs, statusCode, error, errorDetail } = attempt;
  const lateMs = Math.max(0, Date.parse(startedAt) - Date.parse(dueAt));
  const afterMs = Date.parse(startedAt) - startMs;
  return (
    <li>
      <span>
        <strong>{attemptName(attempt)}</strong>
        {afterMs > 0 && <span className="hint"> +{durationText(afterMs)}</span>}
      </span>
      <span>
        <Moment iso={startedAt} isExact />
      </span>
      <span className={isAccepted(attempt) ? 'good' : 'bad'}>
        {statusCode === undefined ? (error ?? 'no response') : statusCodeText(statusCode)}
        {statusCode !== undefined && error !== undefined && ` (${error})`}
      </span>
      <span className="hint due">
        due <Moment iso={dueAt} isExact />
        <span className="below">{lateMs === 0 ? 'on time' : `${durationText(lateMs)} late`}</span>
      </span>
      <span className="number">{durationText(durationMs)}</span>
      <AttemptBar {...{ attempt, startMs, spanMs }} />
      {errorDetail !== undefined && <p className="hint said">{errorDetail}</p>}
      <Response attempt={attempt} sameBefore={sameBefore} />
    </li>
  );
}

/** When it ran, and a mark where it was due; none where that was before the first attempt, with which the line begins. */
function AttemptBar({ attempt, startMs, spanMs }: Omit<AttemptLineProps, 'sameBefore'>) {
  const { dueAt, startedAt, durationMs } = attempt;
  const width = Math.max(MIN_BAR, (BAR * durationMs) / spanMs);
  const placeOf = (iso: string): number => (BAR * (Date.parse(iso) - startMs)) / spanMs;
  const due = placeOf(dueAt);
  return (
    <svg className="bar" viewBox={`0 0 ${String(BAR)} 8`} preserveAspectRatio="none" aria-hidden="true">
      <rect
        x={Math.min(BAR - width, placeOf(startedAt))}
        width={width}
        height="8"
        className={isAccepted(attempt) ? 'good' : 'bad'}
      />
      {due >= 0 && <line className="due" x1={due} x2={due} y1="0" y2="8" vectorEffect="non-scaling-stroke" />}
    </svg>
  );
}

function Response({ attempt, sameBefore }: Pick<AttemptLineProps, 'attempt' | 'sameBefore'>) {
  const { responseBody } = attempt;
  if (sameBefore !== null) return <p className="hint said">Same response as {attemptName(sameBefore).toLowerCase()}</p>;
  if (responseBody === undefined) return null;
  return (
    <pre className="said" tabIndex={0} aria-label="Beginning of the response">
      {responseBody}
    </pre>
  );
}

function attemptName({ attempt, probe }: Attempt): string {
  return probe === true ? 'Probe' : `Attempt ${String(attempt)}`;
}

function isAccepted({ statusCode }: Attempt): boolean {
  return statusCode !== undefined && statusCode >= 200 && statusCode <= 299;
}
