import { HookswitchError } from 'hookswitch'
import type { OpenLeg, OpenLegs } from 'hookswitch/adapter'
import { asteriskAmi, asteriskAri } from 'hookswitch/asterisk'
import { freeswitchSource } from 'hookswitch/freeswitch'
import { manualClock, seededRandom } from 'hookswitch/testkit'
import { describe, expect, it } from 'vitest'
import { encodeLeg } from '../../../../adapters/telephony/source/open-leg-state.js'
import { createSwitchSource } from '../../../../adapters/telephony/source/switch-source.js'

const row = (callId: string) =>
  encodeLeg(callId, { accountId: 'acme', leg: {}, parties: {}, variables: {} }) as OpenLeg

/** A source whose connections end when the test says so. */
function start(list: OpenLegs['list']) {
  const clock = manualClock()
  const steps: string[] = []
  const ends: ((reason: string) => void)[] = []
  const source = createSwitchSource(
    {
      publish: async () => {},
      bufferLimits: { maxWaitMs: 1_000, maxEventsPerLeg: 10, maxLegs: 10 },
      maxOpenLegs: 10,
      log: undefined,
      metrics: undefined,
      openLegs: { list, write: async () => {} },
      clock,
      random: seededRandom(1),
    },
    {
      peer: 'switch',
      addressOption: 'host',
      openLegs: () => 0,
      async open() {
        steps.push('connect')
        const ended = new Promise<string>((resolve) => ends.push(resolve))
        return { ended, close: () => ends.at(-1)?.('closed') }
      },
      savableLegs: {
        save: () => undefined,
        restore(callId) {
          steps.push(`restore ${callId}`)
          return true
        },
      },
    },
  )
  source.start()
  return { source, clock, steps, ends }
}

describe('a source with open legs in the store', () => {
  it('restores them before its first connection, and not before the next', async () => {
    const { steps, ends, clock, source } = start(async () => [row('a'), row('b')])
    await clock.settle()
    expect(steps).toEqual(['restore a', 'restore b', 'connect'])
    ends[0]?.('cut')
    await clock.advance(1_000)
    expect(steps).toEqual(['restore a', 'restore b', 'connect', 'connect'])
    await source.close()
  })

  it('closes while the store does not answer, without a connection', async () => {
    let answer: (legs: readonly OpenLeg[]) => void = () => {}
    const { steps, clock, source } = start(
      () =>
        new Promise((resolve) => {
          answer = resolve
        }),
    )
    await clock.settle()
    let isClosed = false
    const closed = source.close().then(() => {
      isClosed = true
    })
    await clock.settle()
    expect(isClosed).toBe(true)
    answer([row('a')])
    await clock.settle()
    await closed
    expect(steps).toEqual([])
  })

  it('waits for a store that is unavailable, and says why it does not connect', async () => {
    let isAvailable = false
    const { steps, clock, source } = start(async () => {
      if (!isAvailable) throw new HookswitchError('StoreUnavailable', 'call start() first')
      return [row('a')]
    })
    await clock.settle()
    expect(steps).toEqual([])
    expect(source.status().disconnectReason).toBe('call start() first')
    isAvailable = true
    await clock.advance(1_000)
    expect(steps).toEqual(['restore a', 'connect'])
    await source.close()
  })

  it('is refused if its address is too long for a name in the store', () => {
    const openLegs: OpenLegs = { list: async () => [], write: async () => {} }
    const common = { publish: async () => {}, accountOf: () => 'acme', username: 'u', password: 'p' }
    const refused = (field: string) => expect.objectContaining({ code: 'InvalidOption', field })
    const host = 'h'.repeat(300)
    const { publish, accountOf, username, password } = common
    expect(() => freeswitchSource({ publish, accountOf, host, password, openLegs })).toThrow(refused('host'))
    expect(() => asteriskAmi({ publish, accountOf, host, username, secret: 's', openLegs })).toThrow(
      refused('host'),
    )
    const url = `http://${host}/ari`
    expect(() => asteriskAri({ ...common, url, openLegs })).toThrow(refused('url'))
    // Without open legs the name is for the log only.
    expect(() => asteriskAri({ ...common, url })).not.toThrow()
  })
})
