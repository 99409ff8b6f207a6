interface EventTypeBoxesProps<Type extends string> {
  /** In the order in which they are shown, and chosen. */
  readonly types: readonly Type[];
  readonly chosen: readonly Type[];
  readonly onChange: (chosen: readonly Type[]) => void;
}

export function EventTypeBoxes<Type extends string>({ types, chosen, onChange }: EventTypeBoxesProps<Type>) {
  return types.map((type) => (
    <label key={type} className="switch">
      <input
        type="checkbox"
        checked={chosen.includes(type)}
        onChange={({ target }) =>
          onChange(types.filter((one) => (one === type ? target.checked : chosen.includes(one))))
        }
      />
      {type}
    </label>
  ));
}
