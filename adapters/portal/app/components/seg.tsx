/** A choice of one among a few, as buttons side by side. */
interface SegOption<Value extends string> {
  readonly value: Value
  readonly text: string
  /** How many there are, beside the text: `3`, `200+`. */
  readonly count?: string | undefined
}

interface SegProps<Value extends string> {
  /** Name of the group. */
  readonly label: string
  readonly options: readonly SegOption<Value>[]
  readonly value: Value
  readonly onChange: (value: Value) => void
  /** The buttons share the whole width. */
  readonly isEven?: boolean
}

export function Seg<Value extends string>({ label, options, value, onChange, isEven }: SegProps<Value>) {
  return (
    <div class={isEven ? 'seg even' : 'seg'} role="group" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          aria-pressed={option.value === value}
          onClick={() => onChange(option.value)}
        >
          {option.text}
          {option.count !== undefined && (
            <>
              {' '}
              <span class="count">{option.count}</span>
            </>
          )}
        </button>
      ))}
    </div>
  )
}
