import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  fairShare,
  type LiveNode,
  planOwnership,
  SHARDS,
  type ShardLease,
  shardOf,
} from '../../src/store/shards.js'

const NOW = 1_000_000

function lease(shard: number, changes: Partial<ShardLease> = {}): ShardLease {
  return { shard, aliveUntilMs: NOW + 30_000, leaving: false, ...changes }
}

const allOf = (changes: Partial<ShardLease>) =>
  Array.from({ length: SHARDS }, (_, shard) => lease(shard, changes))
const alive = (owner: string): LiveNode => ({ owner, aliveUntilMs: NOW + 30_000 })

describe('shardOf', () => {
  it('never changes: stores persist it', () => {
    expect(['', 'a', 'webhook', 'd4f1c2', '0'.repeat(32)].map(shardOf)).toEqual([25, 32, 13, 23, 13])
  })

  it('spreads ids evenly', () => {
    const counts = new Array<number>(SHARDS).fill(0)
    for (let index = 0; index < SHARDS * 1_000; index += 1) counts[shardOf(`webhook-${index}`)]! += 1
    expect(Math.min(...counts)).toBeGreaterThan(700)
    expect(Math.max(...counts)).toBeLessThan(1_300)
  })
})

describe('fairShare', () => {
  it('leaves no shard without an owner, for any number of nodes', () => {
    expect([0, 1, 2, 3, 5, 64, 100].map(fairShare)).toEqual([64, 64, 32, 22, 13, 1, 1])
  })
})

describe('planOwnership', () => {
  it('lets a single node take every free or expired shard', () => {
    const leases = [...allOf({}).slice(0, 40), ...allOf({ owner: 'dead', aliveUntilMs: NOW }).slice(40)]
    expect(planOwnership(leases, [], 'a', NOW).take).toHaveLength(SHARDS)
  })

  it('takes nothing from a live owner, which gives half back when a second node appears', () => {
    const leases = allOf({ owner: 'a' })
    expect(planOwnership(leases, [alive('a')], 'b', NOW).take).toEqual([])
    expect(planOwnership(leases, [alive('b')], 'a', NOW).giveBack).toHaveLength(SHARDS / 2)
    expect(planOwnership(leases, [{ owner: 'b', aliveUntilMs: NOW }], 'a', NOW).giveBack).toEqual([])
  })

  it('takes a leaving shard only when it was handed over or its lease has expired', () => {
    const leases = allOf({ owner: 'a' }).map((row) => ({ ...row, leaving: row.shard < 3 }))
    leases[1] = { ...leases[1]!, aliveUntilMs: NOW }
    leases[2] = lease(2, { aliveUntilMs: 0 })
    expect(planOwnership(leases, [alive('a')], 'b', NOW).take).toEqual([1, 2])
  })

  it('lets a node keep the shards that it was giving back when it is alone again', () => {
    const leases = allOf({ owner: 'a' }).map((row) => ({ ...row, leaving: row.shard < 10 }))
    expect(planOwnership(leases, [], 'a', NOW).take).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('converges: every shard has one owner, and no node has more than its fair share', () => {
    const step = fc.record({
      node: fc.nat(4),
      act: fc.constantFrom('own', 'renew', 'release', 'die', 'handOver'),
      shard: fc.nat(SHARDS - 1),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.integer({ min: 1, max: 5 }), (steps, survivors) => {
        const leases = allOf({ aliveUntilMs: 0 })
        const nodes = new Map<string, number>()
        let now = NOW
        const act = (owner: string, renewing: boolean) => {
          nodes.set(owner, now + 30)
          const live = [...nodes].map(([name, aliveUntilMs]) => ({ owner: name, aliveUntilMs }))
          const plan = planOwnership(leases, live, owner, now)
          expect(new Set([...plan.keep, ...plan.take]).size).toBe(plan.keep.length + plan.take.length)
          for (const shard of plan.take) {
            const before = leases[shard]!
            const isStolen = before.owner !== undefined && before.owner !== owner && now < before.aliveUntilMs
            expect(isStolen).toBe(false)
          }
          for (const shard of [...plan.keep, ...plan.take]) {
            leases[shard] = { ...leases[shard]!, owner, aliveUntilMs: now + 30, leaving: false }
          }
          if (renewing)
            for (const shard of plan.giveBack) leases[shard] = { ...leases[shard]!, leaving: true }
        }
        const handOver = (shard: number) => {
          if (leases[shard]!.leaving) leases[shard] = lease(shard, { aliveUntilMs: 0 })
        }
        for (const { node, act: what, shard } of steps) {
          const owner = `node-${node}`
          now += 1
          if (what === 'own' || what === 'renew') act(owner, what === 'renew')
          if (what === 'handOver') handOver(shard)
          if (what === 'release') {
            nodes.delete(owner)
            for (const row of leases) {
              if (row.owner === owner) leases[row.shard] = lease(row.shard, { aliveUntilMs: 0 })
            }
          }
        }
        now += 30
        for (let round = 0; round < 3 * survivors; round += 1) {
          now += 1
          for (let node = 0; node < survivors; node += 1) {
            for (const { shard } of leases) handOver(shard)
            act(`survivor-${node}`, true)
          }
        }
        const owned = new Map<string, number>()
        for (const row of leases) owned.set(row.owner ?? '', (owned.get(row.owner ?? '') ?? 0) + 1)
        expect([...owned.keys()].every((owner) => owner.startsWith('survivor-'))).toBe(true)
        expect(Math.max(...owned.values())).toBeLessThanOrEqual(fairShare(survivors))
      }),
    )
  })
})
