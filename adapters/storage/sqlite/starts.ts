/** The starts of attempts whose outcome is not stored yet: one row per group. */
import { canStart, isInterrupted, type Start, shardOf } from 'hookswitch/store'
import type { EngineContext } from './context.js'

interface StartRow {
  readonly term: number
  readonly key: number
  readonly deliveries: string
}

type StoredStart = readonly [webhook: number, position: number, attempt: number, epoch: number]

/** @param deliveries as stored: the numbers of all starts, one after the other */
export function startsIn(deliveries: string): readonly StoredStart[] {
  const numbers = JSON.parse(deliveries) as number[]
  const starts: StoredStart[] = []
  for (let at = 0; at < numbers.length; at += 4) {
    starts.push([numbers[at]!, numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!])
  }
  return starts
}

interface StartLog {
  /** Stores the starts of a group. Returns the indexes of those that must not begin. */
  add(key: number, starts: readonly Start[]): number[]
  /** Forgets starts of the present term. */
  remove(key: number): void
  /** Forgets all starts of the present term. */
  removeAll(): void
  /** The starts of earlier terms in these shards without an outcome. */
  interrupted(shards: ReadonlySet<number>): readonly Start[]
  /** Forgets the starts of earlier terms in these shards. */
  removeEarlier(shards: ReadonlySet<number>): void
}

export function createStartLog({ prepareQuery, prepareChange, state, endpoints }: EngineContext): StartLog {
  const waiting = prepareQuery<{ readonly attempts: number; readonly epoch: number }>(
    'select attempts, epoch from hookswitch_waiting where position = ? and webhook = ?',
  )
  const put = prepareChange(
    'insert or replace into hookswitch_start (term, key, deliveries) values (?, ?, ?)',
  )
  const remove = prepareChange('delete from hookswitch_start where term = ? and key = ?')
  const removeTerm = prepareChange('delete from hookswitch_start where term = ?')
  const earlier = prepareQuery<StartRow>(
    'select term, key, deliveries from hookswitch_start where term < ? order by term, key',
  )

  /** The starts of a row, each with the key of its webhook; `undefined`: the webhook is gone. */
  const read = ({ deliveries }: StartRow) =>
    startsIn(deliveries).map(([webhook, position, attempt, epoch]) => {
      const webhookId = endpoints.byKey(webhook)?.webhook.id
      return { webhook, start: webhookId === undefined ? undefined : { webhookId, position, attempt, epoch } }
    })

  return {
    add(key, starts) {
      const notStarted: number[] = []
      const stored: number[] = []
      for (const [index, start] of starts.entries()) {
        const endpoint = endpoints.byId(start.webhookId)
        const row = endpoint && waiting.get(start.position, endpoint.key)
        if (!canStart(row, start, endpoint?.webhook.epoch ?? 0)) notStarted.push(index)
        else stored.push(endpoint!.key, start.position, start.attempt, start.epoch)
      }
      if (stored.length > 0) put(state.term, key, JSON.stringify(stored))
      // Those that an earlier run of the group has stored.
      else remove(state.term, key)
      return notStarted
    },
    remove: (key) => void remove(state.term, key),
    removeAll: () => void removeTerm(state.term),
    interrupted(shards) {
      // An attempt that was put back and started again is in two rows.
      const found = new Map<string, Start>()
      for (const row of earlier.all(state.term)) {
        for (const { webhook, start } of read(row)) {
          if (!start || !shards.has(shardOf(start.webhookId))) continue
          const { position } = start
          if (isInterrupted(waiting.get(position, webhook), start)) found.set(`${webhook}/${position}`, start)
        }
      }
      return [...found.values()]
    },
    removeEarlier(shards) {
      for (const row of earlier.all(state.term)) {
        const left: number[] = []
        for (const { webhook, start } of read(row)) {
          if (!start || shards.has(shardOf(start.webhookId))) continue
          left.push(webhook, start.position, start.attempt, start.epoch)
        }
        if (left.length === 0) remove(row.term, row.key)
        else put(row.term, row.key, JSON.stringify(left))
      }
    },
  }
}
