/** How states look: a role, which has a colour, and an icon. Pure. */

/** Names of the icons; `components/icon.tsx` draws them. */
export type IconName =
  | 'ok'
  | 'fail'
  | 'pause'
  | 'off'
  | 'idle'
  | 'wait'
  | 'send'
  | 'old'
  | 'aside'
  | 'replay'
  | 'find'
  | 'plus'
  | 'down'
  | 'right'
  | 'left'
  | 'x'
  | 'copy'
  | 'test'
  | 'more'
  | 'start'
  | 'answer'
  | 'end'
  | 'join'
  | 'hold'
  | 'missed'
  | 'voice'
  | 'queue'
  | 'user'
  | 'link'
  | 'list'
  | 'screen'
  | 'bill'
  | 'text'
  | 'half'
  | 'key'
  | 'filter'
  | 'node'

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

/** Role and icon of a state; an unknown one is shown as `off`. */
export const lookOf = (state: string): readonly [Role, IconName] => LOOKS[state] ?? ['off', 'idle']
