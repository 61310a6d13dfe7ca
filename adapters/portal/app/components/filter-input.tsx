/** A filter that is typed: what is being typed survives a refresh of the screen, and takes effect with Enter or on leaving. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { Icon } from './icon.js'

interface FilterInputProps {
  /** The filter that is in effect. */
  readonly value: string
  readonly onChange: (value: string) => void
  /** Name of the field, shown while it is empty. */
  readonly label: string
  readonly type?: 'search' | 'datetime-local'
}

export function FilterInput({ value, onChange, label, type = 'search' }: FilterInputProps) {
  const typed = useSignal(value)
  useEffect(() => {
    typed.value = value
  }, [value])
  const isSearch = type === 'search'
  return (
    <label class="field">
      {isSearch && <Icon name="find" />}
      <span class={isSearch ? 'hidden' : 'soft small'}>{label}</span>
      <input
        {...TYPES[type]}
        placeholder={isSearch ? label : undefined}
        value={typed.value}
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => {
          typed.value = event.currentTarget.value
        }}
        onChange={(event) => onChange(event.currentTarget.value.trim())}
      />
    </label>
  )
}

const TYPES = {
  search: { type: 'search' },
  'datetime-local': { type: 'datetime-local' },
} as const
