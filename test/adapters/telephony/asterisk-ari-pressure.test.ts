import { until } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { deferred } from '../../support/deferred.js'
import { ariChannel, ariEvent } from './asterisk-ari-server.js'
import { startAriSource } from './asterisk-under-test.js'

const T0 = 1_767_225_600_000
/** Long enough for a reconnect, too short for a timeout. */
const LATER_MS = 200

describe('an ARI source with a full service', () => {
  it('events are buffered while the service is full, and nothing is dropped', async () => {
    const { promise: gate, resolve: open } = deferred()
    const { server, published, source, connects, reasons } = await startAriSource({}, () => gate)
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    const CALLS = 4_000
    for (let call = 0; call < CALLS; call += 1) {
      const id = `1767225600.${call}`
      send(ariEvent('ChannelCreated', id, T0), ariEvent('ChannelDestroyed', id, T0, {}, { cause: 16 }))
    }
    await until(() => source.status().waiting > 1_000)
    expect(source.status().waiting).toBeLessThan(1_100)
    open()
    await until(() => published.length === 2 * CALLS)
    expect(reasons()).toEqual([])
  })

  it('a full buffer closes the connection; buffered events are published, then a reconnect finds the missed ones', async () => {
    const { promise: gate, resolve: open } = deferred()
    const { server, published, clock, reasons, connects, hooks } = await startAriSource({}, () => gate)
    const { send } = await server.connected(0)
    await until(() => connects() === 1)
    for (let call = 0; call < 12_000; call += 1) send(ariEvent('ChannelCreated', `1767225600.${call}`, T0))
    await until(() => reasons().length === 1)
    expect(reasons()[0]).toMatch(/more events than can be published/)
    server.responses.channels = () => [ariChannel('1767225600.11999')]
    await clock.advance(LATER_MS)
    // It does not reconnect before the buffered events are published.
    expect(server.peers).toHaveLength(1)
    open()
    await until(() => connects() === 2)
    await until(() => hooks().includes('1767225600.11999 create'))
    const created = new Set(
      published.filter(({ hook }) => hook === 'channel_create').map(({ callId }) => callId),
    )
    for (let call = 0; call < 11_000; call += 1) expect(created.has(`1767225600.${call}`)).toBe(true)
  })
})
