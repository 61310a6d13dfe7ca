import type { Bridge, Channel, Happening } from '../../../adapters/telephony/asterisk/happening.js'
import type { MappingOptions } from '../../../adapters/telephony/asterisk/mapping.js'
import { hooks, teller } from './asterisk-stories.js'

export const T0 = 1_767_225_600_000
export const [A, B, C] = ['1767225600.1', '1767225600.2', '1767225600.3']

export const channel = (id: string, over: Partial<Channel> = {}): Channel => ({
  id,
  name: `PJSIP/1001-${id}`,
  state: 4,
  callerNumber: '1001',
  extension: '2001',
  accountCode: 'acme',
  variable: () => undefined,
  ...over,
})
export const up = { state: 6 }
export const bridge: Bridge = { id: 'b', kind: 'talk' }
export const happened = (
  kind: 'began' | 'seen' | 'held' | 'unheld',
  id: string,
  afterMs = 0,
  over: Partial<Channel> = {},
) => ({ kind, atMs: T0 + afterMs, channel: channel(id, over) }) as Happening
export const moved = (
  kind: 'entered' | 'left',
  id: string,
  to = bridge,
  over: Partial<Channel> = up,
): Happening => ({
  kind,
  atMs: T0,
  channel: channel(id, over),
  bridge: to,
})
export const ended = (id: string, afterMs = 0, cause = 16, over: Partial<Channel> = {}): Happening => ({
  kind: 'hung_up',
  atMs: T0 + afterMs,
  channel: channel(id, over),
  cause,
})
export const told = (options: Partial<MappingOptions> = {}) => {
  const made = teller({ accountOf: (leg) => leg.accountCode, ...options })
  return {
    ...made,
    lines: () => made.story().events.map((e) => `${e.callId} ${hooks([e])} ${e.otherLegCallId ?? ''}`.trim()),
  }
}
