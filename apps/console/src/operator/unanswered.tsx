import type { Output } from '@waypost/client';

/** Which instances did not answer, because a part must not look like the whole. */
export function UnansweredNotice({ unanswered }: Pick<Output<'listTasks'>, 'unanswered'>) {
  if (unanswered.length === 0) return null;
  return (
    <div className="notice" role="status">
      <strong>Not complete:</strong>{' '}
      {unanswered.map(({ instance, reason }) => (
        <span key={instance}>
          <code>{instance}</code> {reason}.{' '}
        </span>
      ))}
    </div>
  );
}
