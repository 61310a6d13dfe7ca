/** A filter that is typed: what is being typed survives a refresh of the screen. It takes effect with Enter or on leaving. */
import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import { Icon } from './icon.js'

interface FilterInputProps {
  /** The filter that is in effect. */
  readonly value: string
  readonly onChange: (value: string) => void
  /** Name of the field, shown while it is empty. */
  readonly label: string
  readonly type?: 'search' | 'datetime-local'
  /** Also takes effect while somebody types: for what is found by a part of it. Default false */
  readonly isImmediate?: boolean
}

export function FilterInput(props: FilterInputProps) {
  const { value, onChange, label, type = 'search', isImmediate = false } = props
  const typed = useSignal(value)
  const input = useRef<HTMLInputElement>(null)
  const set = (text: string) => onChange(text.trim())
  useEffect(() => {
    // Somebody who is in the field may have typed further.
    if (document.activeElement !== input.current) typed.value = value
  }, [value])
  const isSearch = type === 'search'
  return (
    <label class="field">
      {isSearch && <Icon name="find" />}
      <span class={isSearch ? 'hidden' : 'soft small'}>{label}</span>
      <input
        ref={input}
        {...TYPES[type]}
        placeholder={isSearch ? label : undefined}
        value={typed.value}
        autocapitalize="none"
        spellcheck={false}
        onInput={(event) => {
          const text = event.currentTarget.value
          typed.value = text
          if (isImmediate) set(text)
        }}
        onChange={(event) => set(event.currentTarget.value)}
      />
    </label>
  )
}

const TYPES = {
  search: { type: 'search' },
  'datetime-local': { type: 'datetime-local' },
} as const
