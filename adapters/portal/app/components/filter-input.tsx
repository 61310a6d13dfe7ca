/** A filter that is typed: what is being typed survives a refresh of the screen, and takes effect with Enter or on leaving. */
import { useSignal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'

interface FilterInputProps {
  /** The filter that is in effect. */
  readonly value: string
  readonly onChange: (value: string) => void
  readonly type?: 'search' | 'datetime-local'
  /** Shown above the field; otherwise `label` names it. */
  readonly caption?: string
  readonly label?: string
  readonly size?: number
}

export function FilterInput({ value, onChange, type, caption, label, size }: FilterInputProps) {
  const id = useId()
  const typed = useSignal(value)
  useEffect(() => {
    typed.value = value
  }, [value])
  const input = (
    <input
      id={id}
      {...(type && TYPES[type])}
      {...(label !== undefined && { 'aria-label': label, placeholder: label })}
      {...(size !== undefined && { size })}
      value={typed.value}
      autocapitalize="none"
      spellcheck={false}
      onInput={(event) => {
        typed.value = event.currentTarget.value
      }}
      onChange={(event) => onChange(event.currentTarget.value.trim())}
    />
  )
  if (caption === undefined) return input
  return (
    <div class="filter">
      <label for={id}>{caption}</label>
      {input}
    </div>
  )
}

const TYPES = {
  search: { type: 'search' },
  'datetime-local': { type: 'datetime-local' },
} as const
