import { type CSSProperties, Fragment } from 'react';
import type { V2Event } from '@waypost/client';
import { Moment } from '../shared/moment.js';
import { statusCodeText } from '../shared/status-code-text.js';
import { countText, durationText } from '../shared/time-text.js';
import { type AttemptLine, attemptLines, endText } from './attempt-lines.js';
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
  const lines = attemptLines(delivery);
  return (
    <>
      <ol className="timeline">
        {lines.map((line, index) => (
          <Fragment key={index}>
            {line.missingBefore > 0 && (
              <li className="hint">
                <span className="said">
                  {countText(line.missingBefore)} more probes, which the history does not keep
                </span>
              </li>
            )}
            {line.type === 'end' ? (
              <EndLine line={line} startMs={startMs} />
            ) : (
              <SentLine {...{ line, startMs, spanMs }} sameBefore={nameOfSame(lines, index)} />
            )}
          </Fragment>
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

interface SentLineProps {
  readonly line: AttemptLine;
  /** The name of one that got the same response. */
  readonly sameBefore: string | null;
  readonly startMs: number;
  readonly spanMs: number;
}

function SentLine({ line: { attempt, name }, sameBefore, startMs, spanMs }: SentLineProps) {
  const { dueAt, startedAt, durationMs, statusCode, error, errorDetail } = attempt;
  const lateMs = Math.max(0, Date.parse(startedAt) - Date.parse(dueAt));
  return (
    <li>
      <NameAndTime name={name} startedAt={startedAt} startMs={startMs} />
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

/** Nothing was sent: it has no duration, and was not due. */
function EndLine({ line: { attempt, name }, startMs }: Pick<SentLineProps, 'line' | 'startMs'>) {
  return (
    <li>
      <NameAndTime name={name} startedAt={attempt.startedAt} startMs={startMs} />
      <span className="bad ended">Nothing was sent: {endText(attempt)}</span>
    </li>
  );
}

interface NameAndTimeProps extends Pick<SentLineProps, 'startMs'> {
  readonly name: string;
  readonly startedAt: string;
}

function NameAndTime({ name, startedAt, startMs }: NameAndTimeProps) {
  const afterMs = Date.parse(startedAt) - startMs;
  return (
    <>
      <span>
        <strong>{name}</strong>
        {afterMs > 0 && <span className="hint"> +{durationText(afterMs)}</span>}
      </span>
      <span>
        <Moment iso={startedAt} isExact />
      </span>
    </>
  );
}

interface AttemptBarProps extends Pick<SentLineProps, 'startMs' | 'spanMs'> {
  readonly attempt: Attempt;
}

/** When it ran, and a mark where it was due; none where that was before the first attempt, with which the line begins. */
function AttemptBar({ attempt, startMs, spanMs }: AttemptBarProps) {
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

interface ResponseProps extends Pick<SentLineProps, 'sameBefore'> {
  readonly attempt: Attempt;
}

function Response({ attempt: { responseBody }, sameBefore }: ResponseProps) {
  if (sameBefore !== null) return <p className="hint said">Same response as {sameBefore.toLowerCase()}</p>;
  if (responseBody === undefined) return null;
  return (
    <pre className="said" tabIndex={0} aria-label="Beginning of the response">
      {responseBody}
    </pre>
  );
}

function nameOfSame(lines: readonly AttemptLine[], index: number): string | null {
  const same = sameResponseBefore(
    lines.map(({ attempt }) => attempt),
    index,
  );
  return lines.find(({ attempt }) => attempt === same)?.name ?? null;
}

function isAccepted({ statusCode }: Attempt): boolean {
  return statusCode !== undefined && statusCode >= 200 && statusCode <= 299;
}
