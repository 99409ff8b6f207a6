import { useId } from 'react';
import type { Input } from '@waypost/client';

export type Scope = NonNullable<Input<'updateSubscription'>['scope']>;

interface ScopeChoiceProps {
  readonly legend: string;
  readonly eventType: string;
  /** The event types of the others with its URL. */
  readonly others: readonly string[];
  readonly scope: Scope;
  readonly onChange: (scope: Scope) => void;
}

/** Whether a change is for one subscription or for all with its URL. */
export function ScopeChoice({ legend, eventType, others, scope, onChange }: ScopeChoiceProps) {
  const name = useId();
  const all = [eventType, ...others];
  const texts: Readonly<Record<Scope, string>> = {
    url: `All ${String(all.length)} with this URL: ${all.join(', ')}`,
    subscription: `Only ${eventType}`,
  };
  return (
    <fieldset className="choices">
      <legend>{legend}</legend>
      {(['url', 'subscription'] as const).map((one) => (
        <label key={one} className="switch">
          <input type="radio" name={name} checked={one === scope} onChange={() => onChange(one)} />
          {texts[one]}
        </label>
      ))}
    </fieldset>
  );
}
