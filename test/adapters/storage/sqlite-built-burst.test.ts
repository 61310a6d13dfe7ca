import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createHookswitch } from 'hookswitch'
import { until } from 'hookswitch/testkit'
import { afterEach, describe, expect, it } from 'vitest'
import { burstOf, startPipeline } from '../telephony/source/burst.js'
import { builtSqlite } from './sqlite-harness.js'

const cleanups: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

describe('a burst of events from a switch', () => {
  it('of 10,000 events is accepted completely and in order by an SQLite store', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'burst-'))
    cleanups.push(() => rm(folder, { recursive: true }))
    const hs = createHookswitch({ store: (await builtSqlite()).sqliteStore({ path: join(folder, 'hs.db') }) })
    await hs.start()
    cleanups.push(() => hs.close())
    await hs.accounts.create({ id: 'acme', name: 'Acme', realm: 'acme.example' })
    const sequences = new Map<string, [string, number][]>()
    hs.events.on('event', ({ callId, hook, sequence }) =>
      sequences.set(callId, [...(sequences.get(callId) ?? []), [hook, sequence]]),
    )
    const { push: take, isFull, counts, close, rejected } = startPipeline(hs)
    take({ updates: burstOf(2_500), problems: [] })
    expect(isFull()).toBe(true)
    await until(() => counts().published === 10_000, { timeoutMs: 60_000 })
    await close(1_000)
    expect(rejected).toEqual([])
    expect(sequences.size).toBe(2_500)
    for (const events of sequences.values()) {
      expect(events).toEqual([
        ['channel_create', 1],
        ['channel_answer', 2],
        ['channel_hold', 3],
        ['channel_destroy', 4],
      ])
    }
  })
})
