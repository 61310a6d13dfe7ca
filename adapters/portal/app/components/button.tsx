/** Buttons, and links that look like them. */

import type { ComponentChildren } from 'preact'
import type { IconName } from '../text/looks.js'
import { Icon } from './icon.js'

interface Look {
  /** Default: a plain button. */
  readonly kind?: 'primary' | 'quiet' | 'danger' | undefined
  /** `tiny`: in rows; `wide`: as wide as its container. Default: the height of a field. */
  readonly size?: 'tiny' | 'wide' | undefined
  readonly icon?: IconName | undefined
  /** The name of a button that shows only an icon, or a longer name. */
  readonly label?: string | undefined
  readonly children?: ComponentChildren
}

export interface ButtonProps extends Look {
  /** What the button does now, such as "Sending…": it shows this, and a click does nothing. */
  readonly busy?: string | undefined
  readonly disabled?: boolean | undefined
  readonly onClick?: (() => void) | undefined
  /** Default: `button`. */
  readonly type?: 'button' | 'submit' | undefined
  /** State of what the button opens. */
  readonly isExpanded?: boolean | undefined
  readonly isPressed?: boolean | undefined
}

export function Button(props: ButtonProps) {
  const { icon, label, children, busy, disabled = false, onClick, type = 'button' } = props
  const isBusy = busy !== undefined
  return (
    <button
      type={type}
      class={classOf(props)}
      aria-label={label}
      // Not `disabled`, which would take its focus.
      aria-disabled={isBusy || undefined}
      aria-expanded={props.isExpanded}
      aria-pressed={props.isPressed}
      disabled={disabled}
      onClick={(event) => {
        if (isBusy) event.preventDefault()
        else onClick?.()
      }}
    >
      {icon && <Icon name={icon} />}
      {busy ?? children}
    </button>
  )
}

interface LinkButtonProps extends Look {
  readonly href: string
}

export function LinkButton({ href, ...look }: LinkButtonProps) {
  return (
    <a class={classOf(look)} href={href} aria-label={look.label}>
      {look.icon && <Icon name={look.icon} />}
      {look.children}
    </a>
  )
}

function classOf({ kind, size, icon, children }: Look): string {
  const isIconOnly = icon !== undefined && children === undefined
  return ['btn', kind, size, isIconOnly && 'icon'].filter(Boolean).join(' ')
}
