/** Messages to the user: shown for a while, and read by screen readers through a polite live region. */
import { signal } from '@preact/signals'

interface Notice {
  readonly text: string
  readonly isError: boolean
}

export const notice = signal<Notice | undefined>(undefined)
/** What only screen readers get: summaries of live updates. */
export const liveSummary = signal('')

const SHOWN_MS = 6_000
/** At most one summary in this time, so that a busy stream does not talk without end. */
const SUMMARY_MS = 5_000

let timer: ReturnType<typeof setTimeout> | undefined
let nextSummaryMs = 0

export function notify(text: string, isError = false): void {
  notice.value = { text, isError }
  clearTimeout(timer)
  timer = setTimeout(() => {
    notice.value = undefined
  }, SHOWN_MS)
}

/** @returns whether the summary was announced */
export function summarize(text: string): boolean {
  if (Date.now() < nextSummaryMs) return false
  nextSummaryMs = Date.now() + SUMMARY_MS
  liveSummary.value = text
  return true
}
