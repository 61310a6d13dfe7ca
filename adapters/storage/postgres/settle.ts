import type { Settled, Settlement } from 'hookswitch/store'
import { isUnsure } from './errors.js'
import { grouped, type Outcome } from './group.js'
import type { Flights } from './lanes-flights.js'
import type { Doors } from './session-doors.js'
import type { Entry } from './settle-entry.js'
import { settlingIn } from './settle-round.js'
import { unsureSettlements } from './settle-unsure.js'
import type { Waking } from './wake.js'

export interface SettleDoors extends Pick<Doors, 'session' | 'schema'> {
  readonly waking: Pick<Waking, 'look'>
  readonly flights: Flights
  /** Where this store counts what it ends. */
  readonly slot: number
}

interface SettleCall {
  readonly settlements: readonly Settlement[]
  /** Store time, ms. */
  readonly now: number
}

/** Most settlements in a group. */
const MOST = 200

/** Settles calls group by group, in one transaction; each settlement is fenced by itself. */
export function settler({ session, schema, waking, flights, slot }: SettleDoors) {
  const settleRound = settlingIn(schema, slot, flights)
  const unsure = unsureSettlements(schema)

  async function write(calls: readonly SettleCall[]): Promise<readonly Outcome<readonly Settled[]>[]> {
    const entries = calls.flatMap(({ settlements, now }) =>
      settlements.map((settlement): Entry => ({ settlement, now })),
    )
    const { settled, looks } = await session
      .transaction(async (tx) => {
        const settled = new Map<Entry, Settled>()
        const looks = new Set<number>()
        for (const round of roundsOf(entries)) await settleRound(tx, round, settled, looks)
        await unsure.recognise(tx, entries, settled)
        return { settled, looks }
      })
      .catch((thrown: unknown) => {
        if (isUnsure(thrown)) unsure.remember(entries)
        throw thrown
      })
    unsure.forget(entries)
    for (const { settlement } of entries) flights.end(settlement.deliveryId)
    for (const shard of looks) waking.look(shard)
    let next = 0
    return calls.map(({ settlements }) => ({
      value: settlements.map(() => settled.get(entries[next++]!) ?? FENCED),
    }))
  }

  const group = grouped(write, { most: MOST, weigh: ({ settlements }) => settlements.length })
  return {
    settle: (settlements: readonly Settlement[], now: number): Promise<readonly Settled[]> =>
      settlements.length === 0 ? Promise.resolve([]) : group.run({ settlements, now }),
    rest: group.rest,
  }
}

const FENCED: Settled = Object.freeze({ kind: 'fenced' })

/** A claim once in each round: what comes second to it is judged by what the first left. */
function roundsOf(entries: readonly Entry[]): readonly (readonly Entry[])[] {
  const rounds: Entry[][] = []
  const times = new Map<string, number>()
  for (const entry of entries) {
    const { deliveryId, expect } = entry.settlement
    const name = `${deliveryId} ${expect.fence}`
    const time = times.get(name) ?? 0
    times.set(name, time + 1)
    const round = rounds[time]
    if (round) round.push(entry)
    else rounds[time] = [entry]
  }
  return rounds
}
