/** The oracle's own matching: which webhooks an event must go to, written without the service's `matches`. */

import type { CallEvent } from '../testkit/generated-call.js'
import type { WebhookHistory, WebhookInput } from './history.js'

/** Whether a webhook must, may or must not have a delivery of an event. */
type Expectation = 'must' | 'may' | 'must not'

/** Accounts below others in the simulation. */
const BELOW: Readonly<Record<string, readonly string[]>> = { root: ['branch'] }

function matchesInput(input: WebhookInput, account: string, event: CallEvent): boolean {
  if (input.isDeleted || !input.enabled) return false
  if (input.hook !== 'all' && input.hook !== event.hook) return false
  if (input.only && !input.only.includes(event.hook)) return false
  if (input.filter && event.from.endsWith(input.filter.not.suffix.from)) return false
  if (event.isInternalLeg && !input.includeInternalLegs) return false
  return event.accountId === account || isIncludedSubaccount(account, event.accountId, input)
}

function isIncludedSubaccount(account: string, other: string, input: WebhookInput): boolean {
  return input.includeSubaccounts && (BELOW[account] ?? []).includes(other)
}

/** Whether events of one account can reach webhooks of another. */
export function mayConcern(webhookAccount: string, eventAccount: string): boolean {
  return webhookAccount === eventAccount || (BELOW[webhookAccount] ?? []).includes(eventAccount)
}

/** Whether the service had disabled the webhook between these moments: certainly, perhaps, or not. */
function isDisabledByService(
  { disabledMs, changes }: WebhookHistory,
  fromMs: number,
  toMs: number,
): 'yes' | 'perhaps' | 'no' {
  let result: 'yes' | 'perhaps' | 'no' = 'no'
  for (const atMs of disabledMs) {
    if (atMs > toMs) continue
    const enabling = changes.filter(
      ({ outcome, input, doneMs }) => outcome !== 'failed' && input.enabled && doneMs >= atMs,
    )
    if (atMs >= fromMs || enabling.length > 0) result = result === 'yes' ? 'yes' : 'perhaps'
    else result = 'yes'
    const isEnabledAgain = enabling.some(
      ({ outcome, atMs: beginMs, doneMs }) => outcome === 'done' && beginMs > atMs && doneMs < fromMs,
    )
    if (isEnabledAgain) result = 'no'
  }
  return result
}

/** Whether a webhook must have a delivery of an event that was committed between these moments. */
export function expectationOf(
  webhook: WebhookHistory,
  event: CallEvent,
  fromMs: number,
  toMs: number,
): Expectation {
  // The settings that certainly applied when the interval began, and every change that may have applied within it.
  let settled: WebhookInput | undefined
  let mayMatch = false
  let mayNotMatch = false
  for (const { atMs, doneMs, outcome, input } of webhook.changes) {
    if (outcome === 'failed' || atMs > toMs) continue
    if (outcome === 'done' && doneMs < fromMs) settled = input
    else if (matchesInput(input, webhook.accountId, event)) mayMatch = true
    else mayNotMatch = true
  }
  if (settled && matchesInput(settled, webhook.accountId, event)) mayMatch = true
  else mayNotMatch = true
  if (!mayMatch) return 'must not'
  const disabled = webhook.disabledMs.length === 0 ? 'no' : isDisabledByService(webhook, fromMs, toMs)
  if (disabled === 'yes') return 'must not'
  return disabled === 'no' && !mayNotMatch ? 'must' : 'may'
}
