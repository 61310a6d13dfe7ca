import type { MappingOptions } from '../../../adapters/telephony/asterisk/channel-registry.js'
import type { Bridge, Channel, SwitchEvent } from '../../../adapters/telephony/asterisk/switch-event.js'
import { createTracer, hooksOf } from './asterisk-scenarios.js'

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
export const UP_STATE = { state: 6 }
export const bridge: Bridge = { id: 'b', kind: 'talk' }
export const channelEvent = (
  kind: 'created' | 'updated' | 'held' | 'unheld',
  id: string,
  afterMs = 0,
  over: Partial<Channel> = {},
) => ({ kind, atMs: T0 + afterMs, channel: channel(id, over) }) as SwitchEvent
export const bridgeEvent = (
  kind: 'entered' | 'left',
  id: string,
  to = bridge,
  over: Partial<Channel> = UP_STATE,
): SwitchEvent => ({
  kind,
  atMs: T0,
  channel: channel(id, over),
  bridge: to,
})
export const hangupEvent = (
  id: string,
  afterMs = 0,
  cause = 16,
  over: Partial<Channel> = {},
): SwitchEvent => ({
  kind: 'hung_up',
  atMs: T0 + afterMs,
  channel: channel(id, over),
  cause,
})
export const createTracedMapping = (options: Partial<MappingOptions> = {}) => {
  const tracer = createTracer({ accountOf: (leg) => leg.accountCode, ...options })
  return {
    ...tracer,
    lines: () =>
      tracer.trace().events.map((e) => `${e.callId} ${hooksOf([e])} ${e.otherLegCallId ?? ''}`.trim()),
  }
}
