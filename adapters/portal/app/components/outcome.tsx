/** What a receiver answered, in a few characters, with the role of its colour. */
import { failureText } from '../state/translate.js'
import { outcomeOf } from '../text/outcome.js'
import type { AttemptRecord } from '../text/records.js'
import { Line } from './hostile-text.js'
import { Icon, type IconName } from './icon.js'
import type { Role } from './state.js'
import { spanText } from './time.js'

type Outcome = Pick<
  AttemptRecord,
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

/** The status, or why there is none. */
export function outcomeText(attempt: Outcome): string {
  const outcome = outcomeOf(attempt)
  return attempt.resp_status_code === undefined ? failureText(outcome.replaceAll(' ', '_')) : outcome
}

/** With its icon. */
export function OutcomeState({ attempt }: { readonly attempt: Outcome }) {
  const [role, icon] = lookOfOutcome(attempt)
  return (
    <span class={`state is-${role}`}>
      <Icon name={icon} />
      <Line text={outcomeText(attempt)} />
    </span>
  )
}

/** With its duration, and colour only where it failed. */
export function OutcomeLine({ attempt }: { readonly attempt: Outcome }) {
  const [role] = lookOfOutcome(attempt)
  return (
    <>
      <span class={role === 'ok' ? undefined : `is-${role}`}>
        <Line text={outcomeText(attempt)} />
      </span>{' '}
      {attempt.duration_ms !== undefined && <span class="ms">{spanText(attempt.duration_ms)}</span>}
    </>
  )
}
