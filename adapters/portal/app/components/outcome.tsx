/** What a receiver answered, in a few characters, with the role of its colour. */

import type { Attempt } from 'hookswitch/client'
import { failureText } from '../state/translate.js'
import type { IconName, Role } from '../text/looks.js'
import { outcomeOf } from '../text/outcome.js'
import { isStatus, statusText } from '../text/statuses.js'
import { Icon } from './icon.js'
import { spanText } from './time.js'

type Outcome = Pick<
  Attempt,
  'result' | 'resp_status_code' | 'cause' | 'client_error' | 'reason' | 'duration_ms'
>

/** Failures in which the receiver has no part. */
const OURS: ReadonlySet<string> = new Set(['own_fault', 'interrupted', 'own fault'])

/** Role and icon of an attempt: an answer that asks for patience is no failure of anybody. */
export function lookOfOutcome(attempt: Outcome): readonly [Role, IconName] {
  if (attempt.result === 'success') return ['ok', 'ok']
  if (attempt.resp_status_code === '429') return ['warn', 'pause']
  if (OURS.has(attempt.client_error ?? attempt.reason ?? '')) return ['off', 'wait']
  return ['bad', 'fail']
}

/** A status, as `503` or `status 503`, or what a code of a failure means. */
export function answerText(outcome: string): string {
  const code = outcome.replace(/^status /, '')
  return isStatus(code) ? code : failureText(code.replaceAll(' ', '_'))
}

/** The status, or why there is none. */
export const outcomeText = (attempt: Outcome): string => answerText(outcomeOf(attempt))

interface OutcomeStateProps {
  readonly attempt: Outcome
  /** With the name of the status. */
  readonly isNamed?: boolean
}

/** With its icon. */
export function OutcomeState({ attempt, isNamed = false }: OutcomeStateProps) {
  const [role, icon] = lookOfOutcome(attempt)
  const status = isNamed ? attempt.resp_status_code : undefined
  return (
    <span class={`state is-${role}`}>
      <Icon name={icon} />
      {status === undefined ? outcomeText(attempt) : statusText(status)}
    </span>
  )
}

/** With its duration, and colour only where it failed. */
export function OutcomeLine({ attempt }: { readonly attempt: Outcome }) {
  const [role] = lookOfOutcome(attempt)
  return (
    <>
      <span class={role === 'ok' ? undefined : `is-${role}`}>{outcomeText(attempt)}</span>{' '}
      {attempt.duration_ms !== undefined && <span class="ms">{spanText(attempt.duration_ms)}</span>}
    </>
  )
}
