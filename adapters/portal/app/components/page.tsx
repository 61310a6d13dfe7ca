/** The frame of a screen: its heading gets the focus when the user navigates to it. */
import { printableLine } from 'hookswitch/adapter'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

let isFirstPage = true

interface PageProps {
  readonly title: string
  /** Beside the heading. */
  readonly detail?: ComponentChildren
  readonly actions?: ComponentChildren
  readonly children: ComponentChildren
  /** The screen: a change moves the focus to the heading. */
  readonly name: string
}

export function Page({ title, detail, actions, children, name }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (isFirstPage) isFirstPage = false
    else heading.current?.focus()
  }, [name])
  useEffect(() => {
    document.title = `${printableLine(title)} – hookswitch`
  }, [title])
  return (
    <main>
      <div class="title">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {detail}
        {actions && <div class="buttons">{actions}</div>}
      </div>
      {children}
    </main>
  )
}
