/** The frame of a screen: its heading gets the focus when the user navigates to it. */
import { printableLine } from 'hookswitch/adapter'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { SETTINGS } from '../api/settings.js'
import { Icon } from './icon.js'

interface PageProps {
  readonly title: string
  /** Beside the heading, such as a state. */
  readonly detail?: ComponentChildren
  /** What is true now, in one sentence. */
  readonly lead?: ComponentChildren
  readonly actions?: ComponentChildren
  /** Where the screen belongs. */
  readonly crumb?: { readonly text: string; readonly href: string } | undefined
  /** Class of the whole. */
  readonly class?: string
  readonly children?: ComponentChildren
  /** The screen: a change moves the focus to the heading. */
  readonly name: string
}

/** Whether the user has come from another screen; at the first one the browser decides about the focus. */
let hasNavigated = false

/** The next screen gets the focus: the user comes from the login. */
export function expectNavigation(): void {
  hasNavigated = true
}

export function Page(props: PageProps) {
  const { title, detail, lead, actions, crumb, children, name } = props
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (hasNavigated) {
      heading.current!.focus({ preventScroll: true })
      scrollTo(0, 0)
    }
    hasNavigated = true
  }, [name])
  useEffect(() => {
    document.title = `${printableLine(title)} · ${printableLine(SETTINGS.title)}`
  }, [title])
  return (
    <main id="main" class={props.class}>
      {crumb && (
        <a class="crumb" href={crumb.href}>
          <Icon name="left" />
          {crumb.text}
        </a>
      )}
      <div class="head">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            {title} {detail}
          </h1>
          {lead !== undefined && <p>{lead}</p>}
        </div>
        {actions && <div class="row">{actions}</div>}
      </div>
      {children}
    </main>
  )
}
