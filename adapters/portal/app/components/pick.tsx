/** Filters in a bar: a choice of one value, or a value that was chosen elsewhere; a cross removes it. */
import type { ComponentChildren } from 'preact'
import { t } from '../state/translate.js'
import { Icon } from './icon.js'

interface PickProps<Value extends string> {
  readonly label: string
  /** The first one stands for no filter, or for the usual order. */
  readonly options: readonly { readonly value: Value; readonly text: string }[]
  readonly value: Value
  readonly onChange: (value: Value) => void
}

export function Pick<Value extends string>({ label, options, value, onChange }: PickProps<Value>) {
  const usual = options[0]!.value
  const isOn = value !== usual
  return (
    <span class={isOn ? 'pick on' : 'pick'}>
      <label>
        {label}:{' '}
        <select value={value} onChange={(event) => onChange(event.currentTarget.value as Value)}>
          {options.map((option) => (
            <option key={option.value} value={option.value}>
              {option.text}
            </option>
          ))}
        </select>
      </label>
      {isOn ? <Remove label={label} onRemove={() => onChange(usual)} /> : <Icon name="down" />}
    </span>
  )
}

interface PickedProps {
  /** Name of the filter for screen readers. */
  readonly label: string
  readonly children: ComponentChildren
  readonly onRemove: () => void
}

/** A filter that is in effect, such as "Since Fri 27 Nov, 18:00". */
export function Picked({ label, children, onRemove }: PickedProps) {
  return (
    <span class="pick on">
      <span>{children}</span>
      <Remove label={label} onRemove={onRemove} />
    </span>
  )
}

function Remove({ label, onRemove }: { readonly label: string; readonly onRemove: () => void }) {
  return (
    <button type="button" class="x" aria-label={t('filter.remove', { label })} onClick={onRemove}>
      <Icon name="x" />
    </button>
  )
}
