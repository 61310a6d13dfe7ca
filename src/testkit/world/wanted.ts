import type { CallEvent } from '../call-legs.js'
import type { WebhookHistory, WebhookWish } from './ledger.js'

/** Whether an event must, may or must not have gone to a webhook. */
export type Verdict = 'must' | 'may' | 'no'

/** Accounts below others, in the simulated world. */
const BELOW: Readonly<Record<string, readonly string[]>> = { root: ['branch'] }

function wants(wish: WebhookWish, account: string, event: CallEvent): boolean {
  if (wish.isDeleted || !wish.enabled) return false
  if (wish.hook !== 'all' && wish.hook !== event.hook) return false
  if (event.isInternalLeg && !wish.includeInternalLegs) return false
  return event.accountId === account || isBelow(account, event.accountId, wish)
}

function isBelow(account: string, other: string, wish: WebhookWish): boolean {
  return wish.includeSubaccounts && (BELOW[account] ?? []).includes(other)
}

/** True where an account's events may ever reach a webhook of another one. */
export function mayConcern(webhookAccount: string, eventAccount: string): boolean {
  return webhookAccount === eventAccount || (BELOW[webhookAccount] ?? []).includes(eventAccount)
}

/** Whether the service had disabled it: for certain, perhaps, or not. */
function isDisabledByService({ disabledMs, changes }: WebhookHistory, fromMs: number, toMs: number): Verdict {
  let verdict: Verdict = 'no'
  for (const atMs of disabledMs) {
    if (atMs > toMs) continue
    const enabling = changes.filter(
      ({ outcome, wish, doneMs }) => outcome !== 'failed' && wish.enabled && doneMs >= atMs,
    )
    if (atMs >= fromMs || enabling.length > 0) verdict = verdict === 'must' ? 'must' : 'may'
    else verdict = 'must'
    if (
      enabling.some(
        ({ outcome, atMs: askedMs, doneMs }) => outcome === 'done' && askedMs > atMs && doneMs < fromMs,
      )
    )
      verdict = 'no'
  }
  return verdict
}

/** Whether an event that was committed between these moments went to a webhook. */
export function verdictOf(history: WebhookHistory, event: CallEvent, fromMs: number, toMs: number): Verdict {
  // What it was for certain when that began; what it may have become meanwhile is asked as well.
  let sure: WebhookWish | undefined
  let hasYes = false
  let hasNo = false
  for (const { atMs, doneMs, outcome, wish } of history.changes) {
    if (outcome === 'failed' || atMs > toMs) continue
    if (outcome === 'done' && doneMs < fromMs) sure = wish
    else if (wants(wish, history.accountId, event)) hasYes = true
    else hasNo = true
  }
  if (sure && wants(sure, history.accountId, event)) hasYes = true
  else hasNo = true
  if (!hasYes) return 'no'
  const disabled = history.disabledMs.length === 0 ? 'no' : isDisabledByService(history, fromMs, toMs)
  if (disabled === 'must') return 'no'
  return disabled === 'no' && !hasNo ? 'must' : 'may'
}
