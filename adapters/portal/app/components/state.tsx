/** A state as a word and a shape; the colour only repeats them. */
import { word } from '../state/translate.js'
import { Icon, type IconName } from './icon.js'

/** What a colour says: `ok` arrived, `bad` somebody must act, `warn` it waits, `off` no longer or not yet, `info` by hand or now. */
export type Role = 'ok' | 'bad' | 'warn' | 'off' | 'info'

const LOOKS: Readonly<Record<string, readonly [Role, IconName]>> = {
  ok: ['ok', 'ok'],
  success: ['ok', 'ok'],
  delivered: ['ok', 'ok'],
  completed: ['ok', 'ok'],
  recovered: ['ok', 'ok'],
  failing: ['bad', 'fail'],
  failure: ['bad', 'fail'],
  exhausted: ['bad', 'fail'],
  quarantined: ['off', 'aside'],
  paused: ['warn', 'pause'],
  waiting: ['warn', 'wait'],
  in_flight: ['info', 'send'],
  running: ['info', 'send'],
  disabled: ['off', 'off'],
  idle: ['off', 'idle'],
  expired: ['off', 'old'],
  cancelled: ['off', 'off'],
}

/** Whether a webhook in this state has failed since a time; a pause begins with failures. */
export const isBroken = (state: string) => state === 'failing' || state === 'paused'

/** Role and icon of a state; an unknown one is shown as `off`. */
export const lookOf = (state: string): readonly [Role, IconName] => LOOKS[state] ?? ['off', 'idle']

export interface StateProps {
  /** State of a webhook, a delivery, an attempt or a replay. */
  readonly state: string
  /** With a tint, for what needs somebody. */
  readonly pill?: boolean
}

export function State({ state, pill = false }: StateProps) {
  const [role, icon] = lookOf(state)
  return (
    <span class={`state is-${role}${pill ? ' pill' : ''}`}>
      <Icon name={icon} />
      {word('state', state)}
    </span>
  )
}
