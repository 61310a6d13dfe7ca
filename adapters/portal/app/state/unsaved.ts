/** What a user has typed and not saved: before it goes, the page asks. */
import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

let changed = 0

/** What waits for the answer; `stay` takes back what has happened already. */
interface Leaving {
  readonly leave: () => void
  readonly stay: () => void
}

/** The open question. */
export const leaving = signal<Leaving | undefined>(undefined)

/** Runs `leave`; before that, asks where something is not saved. */
export function whenSaved(leave: () => void, stay: () => void = () => {}): void {
  if (changed === 0) leave()
  else leaving.value = { leave, stay }
}

/** The user gives up what is not saved. */
export function giveUp(): void {
  const { leave } = leaving.value!
  leaving.value = undefined
  changed = 0
  leave()
}

/** The user goes on. */
export function goOn(): void {
  leaving.value!.stay()
  leaving.value = undefined
}

/** To be called before the screen is left because all is saved or deleted. */
export function forgetChanges(): void {
  changed = 0
}

/** While `isChanged`, navigation, a switch of the account, signing out and closing the tab ask first. */
export function useUnsaved(isChanged: boolean): void {
  useEffect(() => {
    if (!isChanged) return
    changed += 1
    return () => {
      changed = Math.max(0, changed - 1)
    }
  }, [isChanged])
}

addEventListener('beforeunload', (event) => {
  if (changed > 0) event.preventDefault()
})
