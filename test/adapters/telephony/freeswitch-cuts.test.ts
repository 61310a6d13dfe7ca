import type { ChannelEvent } from 'hookswitch'
import { accountFromVariable, freeswitchSource } from 'hookswitch/freeswitch'
import { fakeFreeswitch, manualClock, seededRandom, until } from 'hookswitch/testkit'
import { expect, it } from 'vitest'
import { hooks } from './freeswitch-mapped.js'
import { bytesOf } from './freeswitch-recorded.js'

const recording = bytesOf('json')

it.each([1, 2, 3, 4])(
  'each leg has one create and one destroy, and none stays open, when connections are cut in mid-event, seed %i',
  async (seed) => {
    const random = seededRandom(seed)
    const clock = manualClock()
    const fake = fakeFreeswitch({ recording, speed: Number.POSITIVE_INFINITY })
    const published: ChannelEvent[] = []
    const source = freeswitchSource({
      publish: async (event) => void published.push(event),
      accountOf: (facts) => accountFromVariable()(facts) ?? 'nobody',
      port: await fake.start(),
      clock,
      random,
    })
    const problems: unknown[] = []
    source.events.on('problem', (problem) => void problems.push(problem))
    source.start()
    for (let connection = 1; fake.position < fake.length; connection += 1) {
      await fake.waitFor('subscribed', connection)
      await until(() => source.status().isConnected)
      await fake.advance(1 + Math.floor(random.fraction() * 120))
      if (fake.position === fake.length) break
      fake.cutIn(1 + Math.floor(random.fraction() * 5_000))
      await fake.advance(1 + Math.floor(random.fraction() * 20))
      // None of these events may have been a subscribed one: then nothing was cut.
      fake.cut()
      await until(() => !source.status().isConnected)
      await until(async () => {
        await clock.advance(500)
        return source.status().isConnected
      })
    }
    await until(async () => {
      await clock.advance(1_000)
      return source.status().openLegs === 0 && source.status().waiting === 0
    })
    await source.close()
    await fake.close()

    const ids = new Set(published.map(({ callId }) => callId))
    // Legs that begin and end while disconnected are lost.
    expect(ids.size).toBeGreaterThan(30)
    for (const id of ids) {
      const all = hooks(published.filter(({ callId }) => callId === id))
      expect(all[0]).toBe('create')
      expect(all.at(-1)).toBe('destroy')
      for (const once of ['create', 'answer', 'destroy'])
        expect(all.filter((hook) => hook === once).length).toBeLessThan(2)
    }
    const keys = published.map((event) => event.idempotencyKey)
    expect(new Set(keys).size).toBe(keys.length)
    expect(problems).toEqual([])
  },
)
