/** Surfaces of a screen: panels, rows of figures, messages, what is shown where nothing is, and skeletons. */

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect, useId } from 'preact/hooks'
import { t } from '../state/translate.js'
import type { IconName, Role } from '../text/looks.js'
import { Icon } from './icon.js'

interface PanelProps {
  readonly title?: ComponentChildren
  /** At the right of the title. */
  readonly aside?: ComponentChildren
  /** Further classes. */
  readonly class?: string
  /** Level of the heading. Default 2 */
  readonly level?: 2 | 3
  readonly children?: ComponentChildren
}

export function Panel({ title, aside, class: more, level = 2, children }: PanelProps) {
  const id = useId()
  const name = more === undefined ? 'panel' : `panel ${more}`
  if (title === undefined) return <div class={name}>{children}</div>
  const Heading = level === 2 ? 'h2' : 'h3'
  return (
    <section class={name} aria-labelledby={id}>
      <header>
        <Heading id={id}>{title}</Heading>
        {aside !== undefined && <span class="push">{aside}</span>}
      </header>
      {children}
    </section>
  )
}

interface Figure {
  readonly label: ComponentChildren
  readonly value: ComponentChildren
  /** Below the value. */
  readonly note?: ComponentChildren
}

interface StripProps {
  readonly items: readonly Figure[]
  /** A panel that stands alone, not at the end of another panel. */
  readonly isAlone?: boolean
}

/** Figures side by side. */
export function Strip({ items, isAlone = false }: StripProps) {
  return (
    <dl class={isAlone ? 'panel strip alone' : 'strip'}>
      {items.map(({ label, value, note }, index) => (
        <div key={index}>
          <dt>{label}</dt>
          <dd>
            {value}
            {note !== undefined && <small>{note}</small>}
          </dd>
        </div>
      ))}
    </dl>
  )
}

interface NoteProps {
  /** Default: without colour. */
  readonly tone?: Extract<Role, 'bad' | 'ok'>
  readonly icon: IconName
  /** Screen readers read it at once. */
  readonly isAlert?: boolean
  readonly children: ComponentChildren
}

/** A message in a separate panel. */
export function Note({ tone, icon, isAlert = false, children }: NoteProps) {
  return (
    <div class={tone === undefined ? 'note' : `note is-${tone}`} role={isAlert ? 'alert' : undefined}>
      {tone === undefined ? (
        <Icon name={icon} />
      ) : (
        <span class={`state is-${tone}`}>
          <Icon name={icon} />
        </span>
      )}
      <div>{children}</div>
    </div>
  )
}

interface NoneProps {
  /** Default: a list. */
  readonly icon?: IconName
  readonly title: ComponentChildren
  /** What to do next. */
  readonly children?: ComponentChildren
}

/** In place of a list that has nothing to show. */
export function None({ icon = 'list', title, children }: NoneProps) {
  return (
    <div class="none">
      <Icon name={icon} />
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
    </div>
  )
}

const BONE_AFTER_MS = 150

/** In place of what is being loaded; short waits show nothing. */
export function Bone() {
  const isShown = useSignal(false)
  useEffect(() => {
    const timer = setTimeout(() => {
      isShown.value = true
    }, BONE_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  return (
    <div class={isShown.value ? 'stack waiting pad' : 'stack waiting pad still'} role="status">
      <span class="hidden">{t('load.loading')}</span>
      <span class="bone half" />
      <span class="bone" />
      <span class="bone" />
      <span class="bone half" />
    </div>
  )
}
