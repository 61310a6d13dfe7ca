/** A labelled choice of one among several values. */
interface SelectProps<Value extends string> {
  readonly label: string
  readonly value: Value
  /** Each value with its text. */
  readonly options: readonly (readonly [value: Value, text: string])[]
  readonly onChange: (value: Value) => void
  readonly class?: string
}

export function Select<Value extends string>(props: SelectProps<Value>) {
  const { label, value, options, onChange } = props
  return (
    <label class={props.class ?? ''}>
      <span>{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    </label>
  )
}
