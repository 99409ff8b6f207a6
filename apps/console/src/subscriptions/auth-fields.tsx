import type { AuthSettings } from './subscription-settings.js';

interface AuthFieldsProps {
  readonly auth: AuthSettings;
  readonly onChange: (auth: AuthSettings) => void;
  readonly isNew: boolean;
}

/** Besides the signature, which every delivery has: a token that is fetched by client credentials. */
export function AuthFields({ auth, onChange, isNew }: AuthFieldsProps) {
  function set(change: Partial<AuthSettings>): void {
    onChange({ ...auth, ...change });
  }

  return (
    <>
      <label>
        Authentication, besides the signature
        <select value={auth.type} onChange={({ target }) => set({ type: target.value as AuthSettings['type'] })}>
          <option value="none">none</option>
          {!isNew && auth.tokenUrl !== '' && <option value="kept">the current token source</option>}
          <option value="bearer">bearer token by OAuth 2 client credentials</option>
        </select>
      </label>
      {auth.type === 'bearer' && <TokenSourceFields auth={auth} set={set} />}
    </>
  );
}

interface TokenSourceFieldsProps {
  readonly auth: AuthSettings;
  readonly set: (change: Partial<AuthSettings>) => void;
}

function TokenSourceFields({ auth, set }: TokenSourceFieldsProps) {
  return (
    <>
      <label>
        Token URL
        <input
          type="url"
          required
          placeholder="https://id.example.com/token"
          value={auth.tokenUrl}
          onChange={({ target }) => set({ tokenUrl: target.value })}
        />
      </label>
      <label>
        Client id
        <input required value={auth.clientId} onChange={({ target }) => set({ clientId: target.value })} />
      </label>
      <label>
        Client secret (stored encrypted)
        <input
          type="password"
          autoComplete="off"
          required
          value={auth.clientSecret}
          onChange={({ target }) => set({ clientSecret: target.value })}
        />
      </label>
      <label>
        Scope; empty: none
        <input value={auth.scope} onChange={({ target }) => set({ scope: target.value })} />
      </label>
      <label>
        Audience; empty: none
        <input value={auth.audience} onChange={({ target }) => set({ audience: target.value })} />
      </label>
      <label>
        Client id and secret are sent
        <select
          value={auth.tokenAuthMethod}
          onChange={({ target }) => set({ tokenAuthMethod: target.value as AuthSettings['tokenAuthMethod'] })}
        >
          <option value="client_secret_basic">in the Authorization header</option>
          <option value="client_secret_post">in the body</option>
        </select>
      </label>
    </>
  );
}
