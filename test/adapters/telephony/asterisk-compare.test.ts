import { describe, expect, it } from 'vitest'
import type { ListedChannel } from '../../../adapters/telephony/asterisk/switch-event.js'
import { hooksOf } from './asterisk-scenarios.js'
import {
  A,
  B,
  bridge,
  bridgeEvent,
  C,
  channel,
  channelEvent,
  createTracedMapping,
  hangupEvent,
  T0,
  UP_STATE,
} from './asterisk-switch-events.js'

describe('reconciling with the list of open channels', () => {
  const listed = (...ids: string[]): ListedChannel[] =>
    ids.map((id) => ({ channel: channel(id, UP_STATE), bridge }))

  it('ends missing legs once, without the durations that are not known', () => {
    const { apply, mapping, push, trace } = createTracedMapping()
    apply(channelEvent('created', A), channelEvent('updated', A, 100, UP_STATE))
    push(mapping.reconcile(mapping.snapshot(), [], T0 + 7_100))
    push(mapping.reconcile(mapping.snapshot(), [], T0 + 9_000))
    apply(hangupEvent(A, 9_500))
    expect(hooksOf(trace().events)).toEqual(['create', 'answer', 'destroy'])
    expect(trace().events[2]).toMatchObject({
      hangupCause: 'NORMAL_UNSPECIFIED',
      timestampMs: T0 + 7_100,
      // It was answered after 0.1 s.
      ringingSeconds: 0,
      idempotencyKey: `${A}/channel_destroy`,
      customChannelVars: { found_by: 'resync' },
    })
    expect(trace().events[2]).not.toHaveProperty('durationSeconds')
    expect(trace().events[2]).not.toHaveProperty('billingSeconds')
    expect(trace().problems).toEqual([])
  })

  it('a leg that began after the snapshot is not missing, and one that ended since is not reopened', () => {
    const { apply, mapping, push, trace } = createTracedMapping()
    apply(channelEvent('created', A))
    const snapshot = mapping.snapshot()
    apply(hangupEvent(A), channelEvent('created', B))
    push(mapping.reconcile(snapshot, listed(A), T0))
    expect(trace().events.map(({ callId, hook }) => `${callId} ${hook}`)).toEqual([
      ...[`${A} channel_create`, `${A} channel_destroy`, `${B} channel_create`],
    ])
  })

  it('publishes existing bridges, once, under the key of the event that was missed', () => {
    const { apply, mapping, push, trace } = createTracedMapping()
    push(mapping.reconcile(mapping.snapshot(), listed(A, B), T0))
    push(mapping.reconcile(mapping.snapshot(), listed(A, B), T0 + 5_000))
    apply(bridgeEvent('left', B), hangupEvent(B))
    push(mapping.reconcile(mapping.snapshot(), listed(A, C), T0 + 9_000))
    const talks = trace().events.filter(({ hook }) => hook === 'channel_bridge')
    expect(talks.map(({ callId, otherLegCallId }) => [callId, otherLegCallId]).sort()).toEqual([
      ...[
        [A, B],
        [A, C],
        [B, A],
        [C, A],
      ],
    ])
    for (const { customChannelVars } of talks) expect(customChannelVars).toMatchObject({ found_by: 'resync' })

    const heard = createTracedMapping()
    heard.apply(...[A, B].map((id) => channelEvent('created', id, 0, UP_STATE)))
    heard.apply(bridgeEvent('entered', B), bridgeEvent('entered', A))
    const keys = (events: typeof talks) =>
      events.flatMap((event) =>
        event.hook === 'channel_bridge' && event.callId === B ? [event.idempotencyKey] : [],
      )
    expect(keys(heard.trace().events)).toEqual(keys(talks))
  })

  it('a move after the snapshot takes precedence over the list', () => {
    const { apply, mapping, push, lines } = createTracedMapping()
    for (const id of [A, B, C]) apply(channelEvent('created', id, 0, UP_STATE))
    const snapshot = mapping.snapshot()
    apply(bridgeEvent('entered', A), bridgeEvent('entered', B))
    push(
      mapping.reconcile(
        snapshot,
        [A, B, C].map((id) => ({ channel: channel(id, UP_STATE) })),
        T0,
      ),
    )
    apply(bridgeEvent('entered', C))
    expect(lines().at(-1)).toBe(`${C} bridge`)
  })
})
