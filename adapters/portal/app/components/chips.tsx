/** A choice of one among a few, as buttons. */
interface Chip<Value extends string> {
  readonly value: Value
  readonly label: string
}

interface ChipsProps<Value extends string> {
  readonly label: string
  readonly chips: readonly Chip<Value>[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}

export function Chips<Value extends string>({ label, chips, value, onChange }: ChipsProps<Value>) {
  return (
    <div class="chips" role="group" aria-label={label}>
      {chips.map((chip) => (
        <button
          key={chip.value}
          type="button"
          class="chip"
          aria-pressed={chip.value === value}
          onClick={() => onChange(chip.value)}
        >
          {chip.label}
        </button>
      ))}
    </div>
  )
}
