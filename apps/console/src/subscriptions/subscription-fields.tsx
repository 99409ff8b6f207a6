import type { Subscription } from '@waypost/client';
import { AuthFields } from './auth-fields.js';
import { CertificateFields } from './certificate-fields.js';
import { HeaderFields } from './header-fields.js';
import type { SubscriptionSettings } from './subscription-settings.js';

interface SubscriptionFieldsProps {
  readonly settings: SubscriptionSettings;
  readonly onChange: (settings: SubscriptionSettings) => void;
  /** A new one may leave its format to the fleet. */
  readonly isNew?: boolean;
  /** That it has so far. */
  readonly shownCertificate?: Subscription['clientCertificate'];
}

/** What a new subscription and one that is edited have in common. */
export function SubscriptionFields(props: SubscriptionFieldsProps) {
  const { settings, onChange, isNew = false, shownCertificate } = props;
  const { certificate } = settings;

  function set(change: Partial<SubscriptionSettings>): void {
    onChange({ ...settings, ...change });
  }

  return (
    <>
      <OwnFields settings={settings} onChange={onChange} />
      <AuthFields auth={settings.auth} onChange={(auth) => set({ auth })} isNew={isNew} />
      <CertificateFields {...{ certificate, shownCertificate }} onChange={(next) => set({ certificate: next })} />
      <HeaderFields headers={settings.headers} onChange={(headers) => set({ headers })} />
      <label>
        Format of the body
        <select
          value={settings.payloadFormat}
          onChange={({ target }) => set({ payloadFormat: target.value as SubscriptionSettings['payloadFormat'] })}
        >
          {isNew && <option value="">default of the fleet</option>}
          <option value="v1">v1</option>
          <option value="legacy-v1">legacy-v1</option>
        </select>
      </label>
      <label>
        Only these devices, one per line; empty: every device
        <textarea rows={3} value={settings.deviceIds} onChange={({ target }) => set({ deviceIds: target.value })} />
      </label>
      <label>
        Maximum attempts per second; empty: no limit
        <input
          type="number"
          min={1}
          step={1}
          value={settings.rateLimitPerSecond}
          onChange={({ target }) => set({ rateLimitPerSecond: target.value })}
        />
      </label>
      <label>
        While the endpoint is down
        <select
          value={settings.onOutage}
          onChange={({ target }) => set({ onOutage: target.value as SubscriptionSettings['onOutage'] })}
        >
          <option value="fail">a delivery fails after five attempts</option>
          <option value="hold">deliveries are held, and sent in order when it is back</option>
        </select>
      </label>
      <label className="switch">
        <input
          type="checkbox"
          checked={settings.strictOrder}
          onChange={({ target }) => set({ strictOrder: target.checked })}
        />
        Strict order per device: a retry holds back newer events
      </label>
    </>
  );
}

/** What means something to the subscriber alone. */
function OwnFields({ settings, onChange }: SubscriptionFieldsProps) {
  return (
    <>
      <label>
        Description, for people
        <input
          maxLength={500}
          value={settings.description}
          onChange={({ target }) => onChange({ ...settings, description: target.value })}
        />
      </label>
      <label>
        Your own metadata, one key=value per line; not sent to the receiver
        <textarea
          rows={2}
          value={settings.metadata}
          onChange={({ target }) => onChange({ ...settings, metadata: target.value })}
        />
      </label>
    </>
  );
}
