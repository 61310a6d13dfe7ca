/** A service on a store that survives its restarts, with one source of a switch. */
import { join } from 'node:path'
import { createHookswitch, type Hookswitch, memoryStore, type PublishedEvent } from 'hookswitch'
import type { SourceOptions, SwitchSource } from 'hookswitch/asterisk'
import { postgresStore } from 'hookswitch/postgres'
import { sqliteStore } from 'hookswitch/sqlite'
import type { Store } from 'hookswitch/store'
import { type ManualClock, manualClock, seededRandom, until } from 'hookswitch/testkit'
import { onTestFinished } from 'vitest'
import type { PgServer } from '../storage/pg-cluster.js'
import { temporaryFolder } from '../storage/sqlite-harness.js'

/** Creates the stores of one service, one after the other, on the same data. */
export type StoreMaker = () => () => Store

const SECRET = 'a secret of this test, long enough'

/** Every store of the package; PostgreSQL where the machine has a server. */
export function storeMakers(postgres: PgServer | undefined): readonly (readonly [string, StoreMaker])[] {
  const all: [string, StoreMaker][] = [
    [
      'the memory store',
      () => {
        const store = memoryStore()
        return () => store
      },
    ],
    [
      'SQLite',
      () => {
        const path = join(temporaryFolder(), 'x.db')
        return () => sqliteStore({ path, inThread: true })
      },
    ],
  ]
  if (postgres) {
    all.push([
      'PostgreSQL',
      () => {
        const options = { connectionString: postgres.url, schema: postgres.freshSchema() }
        return () => postgresStore(options)
      },
    ])
  }
  return all
}

/** A source's options that do not depend on the switch, and `hs.openLegs`. */
export type SharedOptions = Required<Pick<SourceOptions, 'publish' | 'clock' | 'random'>> & {
  readonly openLegs: Hookswitch['openLegs']
}

/** A service with its source. */
export interface RunningNode {
  readonly hs: Hookswitch
  readonly source: SwitchSource
  readonly clock: ManualClock
  /** Ends both. */
  stop(): Promise<void>
  /** Ends both, and nothing that the source still publishes or stores arrives. */
  crash(): Promise<void>
}

/** A host that is started and stopped several times. */
export interface Host {
  /** Events that were accepted, in order, of all nodes so far. Duplicates are not accepted. */
  readonly events: PublishedEvent[]
  /**
   * Starts a node and its source; resolves when the source is connected.
   *
   * @param nowMs the time of its clock. Default: that of a new manual clock
   */
  start(nowMs?: number): Promise<RunningNode>
  /** Resolves when this number of events was accepted. */
  accepted(count: number): Promise<unknown>
  /** Ids of the legs in the store. */
  storedLegs(node: RunningNode): Promise<readonly string[]>
}

/** @param createSource creates the source of a node; not started */
export function createHost(
  newStore: () => Store,
  sourceName: string,
  createSource: (options: SharedOptions) => SwitchSource,
): Host {
  const events: PublishedEvent[] = []
  return {
    events,
    async start(nowMs) {
      const hs = createHookswitch({ store: newStore(), secret: SECRET })
      await hs.start()
      await hs.accounts.ensure([{ id: 'acme', name: 'Acme', realm: 'acme.example' }])
      hs.events.on('event', (event) => void events.push(event))
      const clock = manualClock(nowMs === undefined ? {} : { nowMs })
      let isCrashed = false
      const unlessCrashed =
        <Args extends unknown[], Result>(call: (...args: Args) => Promise<Result>) =>
        (...args: Args): Promise<Result> =>
          isCrashed ? new Promise(() => {}) : call(...args)
      const { write, list } = hs.openLegs
      const source = createSource({
        publish: unlessCrashed((event) => hs.publish(event)),
        openLegs: { write: unlessCrashed(write), list },
        clock,
        random: seededRandom(1),
      })
      const stop = async () => {
        await source.close({ drainMs: isCrashed ? 0 : 60_000 })
        await hs.close()
      }
      const crash = () => {
        isCrashed = true
        return stop()
      }
      onTestFinished(stop)
      source.start()
      await until(() => source.status().isConnected)
      return { hs, source, clock, stop, crash }
    },
    accepted: (count) => until(() => events.length >= count),
    async storedLegs({ hs }) {
      return (await hs.openLegs.list(sourceName, undefined, 99)).map(({ callId }) => callId)
    },
  }
}
