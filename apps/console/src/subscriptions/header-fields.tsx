import { areHeadersChanged, type HeaderSetting, type HeaderSettings } from './subscription-settings.js';

interface HeaderFieldsProps {
  readonly headers: HeaderSettings;
  readonly onChange: (headers: HeaderSettings) => void;
}

/** Bounds of the API, which says what else it does not take. */
const MAX_HEADERS = 20;
const LONGEST_NAME = 64;
const LONGEST_VALUE = 4_096;
const NEW_HEADER: HeaderSetting = { name: '', value: '', secret: false };

/** Headers of the owner, such as the key of a gateway. */
export function HeaderFields({ headers, onChange }: HeaderFieldsProps) {
  const { list } = headers;
  const isChanged = areHeadersChanged(headers);
  const change = (next: readonly HeaderSetting[]): void => onChange({ ...headers, list: next });
  const needsValues = isChanged && list.some(({ value, secret }) => secret && value === '');
  return (
    <fieldset className="header-fields">
      <legend>Custom headers, in every delivery</legend>
      {list.map((header, index) => (
        <HeaderRow
          // A list of rows that only their place tells apart, and that have no state.
          key={index}
          header={header}
          position={index + 1}
          isKept={!isChanged}
          onChange={(next) => change(list.with(index, next))}
          onRemove={() => change(list.toSpliced(index, 1))}
        />
      ))}
      {needsValues && <p className="hint">Headers are replaced together: enter secret values again with the others.</p>}
      <button
        type="button"
        className="quiet"
        disabled={list.length >= MAX_HEADERS}
        onClick={() => change([...list, NEW_HEADER])}
      >
        Add a header
      </button>
    </fieldset>
  );
}

interface HeaderRowProps {
  readonly header: HeaderSetting;
  /** 1 for the first. */
  readonly position: number;
  /** A secret value that is stored stays. */
  readonly isKept: boolean;
  readonly onChange: (header: HeaderSetting) => void;
  readonly onRemove: () => void;
}

function HeaderRow({ header, position, isKept, onChange, onRemove }: HeaderRowProps) {
  const { name, value, secret } = header;
  const label = `Header ${String(position)}`;
  return (
    <div className="header-row">
      <input
        required
        aria-label={`${label}: name`}
        placeholder="x-api-key"
        maxLength={LONGEST_NAME}
        spellCheck={false}
        autoComplete="off"
        value={name}
        onChange={({ target }) => onChange({ ...header, name: target.value })}
      />
      <input
        type={secret ? 'password' : 'text'}
        required={!isKept}
        aria-label={`${label}: value`}
        placeholder={secret && isKept ? 'kept' : 'value'}
        maxLength={LONGEST_VALUE}
        spellCheck={false}
        autoComplete="off"
        value={value}
        onChange={({ target }) => onChange({ ...header, value: target.value })}
      />
      <label className="switch">
        <input
          type="checkbox"
          aria-label={`${label}: secret`}
          checked={secret}
          onChange={({ target }) => onChange({ ...header, secret: target.checked })}
        />
        secret
      </label>
      <button type="button" className="quiet" aria-label={`Remove header ${String(position)}`} onClick={onRemove}>
        ✕
      </button>
    </div>
  );
}
