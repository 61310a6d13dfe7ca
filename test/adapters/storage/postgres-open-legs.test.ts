import { postgresStore } from 'hookswitch/postgres'
import type { Log, Store } from 'hookswitch/store'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/runtime/clock.js'
import { postgresForTests } from './pg-cluster.js'

const log: Log = { debug() {}, info() {}, warn() {}, error() {} }
const server = await postgresForTests()
afterAll(() => server?.end())

async function openNode(schema: string): Promise<Store> {
  const store = postgresStore({ connectionString: server!.url, schema })
  await store.open({ clock: systemClock(), log })
  onTestFinished(() => store.close())
  return store
}

const legs = (...ids: string[]) => ids.map((callId) => ({ callId, accountId: 'acme', state: '{}' }))

describe.skipIf(!server)('open legs in PostgreSQL', () => {
  it('two nodes write and remove the same legs in opposite orders, again and again', async () => {
    const schema = server!.freshSchema()
    const [first, second] = [await openNode(schema), await openNode(schema)]
    const ids = Array.from({ length: 200 }, (_, index) => `leg-${index}`)
    const halves = [ids.slice(0, 100), ids.slice(100)] as const
    for (let round = 0; round < 10; round += 1) {
      const [removed, kept] = round % 2 === 0 ? halves : halves.toReversed()
      const change = (order: readonly string[], gone: readonly string[]) => ({
        put: legs(...order),
        remove: gone,
      })
      await Promise.all([
        first.openLegs.write('switch', change(kept!, removed!), 1),
        second.openLegs.write('switch', change(kept!.toReversed(), removed!.toReversed()), 1),
      ])
      const left = (await second.openLegs.list('switch', undefined, 999)).map(({ callId }) => callId)
      expect(left).toEqual([...kept!].sort())
    }
  })
})
