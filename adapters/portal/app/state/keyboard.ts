/** Shortcuts. A screen registers its list and its commands; every shortcut can be switched off (WCAG 2.1.4). */
import { signal } from '@preact/signals'
import { shortcuts } from './preferences.js'

/** What the keys act on: the list of the current screen. */
interface KeyTarget {
  move?(rows: number): void
  open?(): void
  replay?(): void
}

export const isHelpOpen = signal(false)
/** Id of the field that `/` leads to. */
export const SEARCH_ID = 'search'

const targets: KeyTarget[] = []

/** Registers a target until the returned function is called. The last one that has the command gets it. */
export function registerKeys(target: KeyTarget): () => void {
  targets.push(target)
  return () => {
    const index = targets.indexOf(target)
    if (index !== -1) targets.splice(index, 1)
  }
}

const find = <Name extends keyof KeyTarget>(name: Name) => targets.findLast((target) => target[name])?.[name]

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))

const COMMANDS: Readonly<Record<string, () => boolean>> = {
  '/': () => {
    const box = document.querySelector<HTMLInputElement>(`#${SEARCH_ID}`)
    box?.focus()
    box?.select()
    return box !== null
  },
  '?': () => {
    isHelpOpen.value = true
    return true
  },
  j: () => run(find('move'), 1),
  k: () => run(find('move'), -1),
  Enter: () => run(find('open')),
  r: () => run(find('replay')),
}

function run<Arguments extends readonly unknown[]>(
  command: ((...given: Arguments) => void) | undefined,
  ...given: Arguments
): boolean {
  command?.(...given)
  return command !== undefined
}

addEventListener('keydown', (event) => {
  if (shortcuts.value === 'off' || event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented)
    return
  if (isTyping(event.target) || document.querySelector('dialog[open]')) return
  // Enter on a link or a button is theirs.
  if (
    event.key === 'Enter' &&
    event.target instanceof HTMLElement &&
    /^(A|BUTTON|SUMMARY)$/.test(event.target.tagName)
  )
    return
  if (COMMANDS[event.key]?.()) event.preventDefault()
})
