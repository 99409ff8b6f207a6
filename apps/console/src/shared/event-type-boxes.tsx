import { useId } from 'react';

interface EventTypeBoxesProps<Type extends string> {
  /** In the order in which they are shown, and chosen. */
  readonly types: readonly Type[];
  readonly chosen: readonly Type[];
  readonly onChange: (chosen: readonly Type[]) => void;
  /** What each of them is. */
  readonly texts?: Readonly<Record<Type, string>>;
}

export function EventTypeBoxes<Type extends string>({ types, chosen, onChange, texts }: EventTypeBoxesProps<Type>) {
  const id = useId();
  return types.map((type) => (
    <label key={type} className="switch">
      <input
        type="checkbox"
        aria-label={type}
        aria-describedby={texts && `${id}-${type}`}
        checked={chosen.includes(type)}
        onChange={({ target }) =>
          onChange(types.filter((one) => (one === type ? target.checked : chosen.includes(one))))
        }
      />
      <span>
        {type}
        {texts && (
          <span className="hint below" id={`${id}-${type}`}>
            {texts[type]}
          </span>
        )}
      </span>
    </label>
  ));
}
