/**
 * Reads waiting deliveries into columns: a million in about a second. SQLite joins some thousand rows into one text, because
 * an object per row takes several times as long.
 */
import { type DeliveryKey, shardOf, type WaitingDeliveries, type Webhook } from 'hookswitch/store'
import type { EngineContext } from './context.js'
import type { Statements } from './query.js'

interface WaitingPart {
  readonly waiting: WaitingDeliveries
  readonly webhooks: readonly Webhook[]
  /** Absent: there are no more. */
  readonly cursor?: string
}

interface WaitingColumns {
  /** Some deliveries of these shards, in order of lanes. @param after the cursor of the part before */
  part(shards: ReadonlySet<number>, after: string | undefined): WaitingPart
  /** Those of these deliveries that wait. */
  ofKeys(keys: readonly DeliveryKey[]): WaitingPart
}

/** Rows per part: 0.2 s. */
const PART_SIZE = 200_000
/** Rows per text: about 300 KB. */
const TEXT_SIZE = 5_000

const ROW = `position || ',' || webhook || ',' || lane || ',' || sequence || ',' || cast(ifnull(due_ms, 0) as integer)
  || ',' || epoch || ',' || attempts || ',' || tries || ',' || interruptions
  || ',' || cast(ifnull(failed_ms, 0) as integer)`
const WIDTH = 10

interface TextRow {
  readonly count: number
  readonly text: string | null
}

const LOAD_SQL = `select count(*) as count, group_concat(row) as text from (
    select ${ROW} as row from hookswitch_waiting where (position, webhook) > (?, ?)
    order by position, webhook limit ? + 0
  )`

const COMMA = 44
const ZERO = 48

/** Integers below 2^53, separated by commas. @returns the position in `to` after the last one */
function parseIntegers(text: string, to: Float64Array, from: number): number {
  let next = from
  let value = 0
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index)
    if (code === COMMA) {
      to[next++] = value
      value = 0
    } else value = value * 10 + (code - ZERO)
  }
  to[next++] = value
  return next
}

export function createWaitingColumns({
  prepareQuery,
  endpoints,
}: Pick<EngineContext, keyof Statements | 'endpoints'>): WaitingColumns {
  const load = prepareQuery<TextRow>(LOAD_SQL)
  const readOne = prepareQuery<TextRow>(
    `select 1 as count, ${ROW} as text from hookswitch_waiting where position = ? and webhook = ?`,
  )

  /** @param shards those that are wanted; `undefined`: all */
  function toPart(numbers: Float64Array, shards?: ReadonlySet<number>): WaitingPart {
    const webhooks: Webhook[] = []
    const indexes = new Map<number, number>()
    function indexOf(key: number): number {
      const known = indexes.get(key)
      if (known !== undefined) return known
      const { webhook } = endpoints.byKey(key)!
      const isWanted = shards?.has(shardOf(webhook.id)) ?? true
      const index = isWanted ? webhooks.push(webhook) - 1 : -1
      indexes.set(key, index)
      return index
    }

    const rows = numbers.length / WIDTH
    const integers = () => new Uint32Array(rows)
    const doubles = () => new Float64Array(rows)
    const columns = {
      webhook: integers(),
      position: doubles(),
      lane: doubles(),
      sequence: integers(),
      dueMs: doubles(),
      epoch: integers(),
      attempts: integers(),
      tries: integers(),
      interruptions: new Uint8Array(rows),
      failedMs: doubles(),
    }
    let count = 0
    for (const at of inLaneOrder(numbers)) {
      const index = indexOf(numbers[at + 1]!)
      if (index < 0) continue
      columns.position[count] = numbers[at]!
      columns.webhook[count] = index
      columns.lane[count] = numbers[at + 2]!
      columns.sequence[count] = numbers[at + 3]!
      columns.dueMs[count] = numbers[at + 4]!
      columns.epoch[count] = numbers[at + 5]!
      columns.attempts[count] = numbers[at + 6]!
      columns.tries[count] = numbers[at + 7]!
      columns.interruptions[count] = numbers[at + 8]!
      columns.failedMs[count] = numbers[at + 9]!
      count += 1
    }
    return { waiting: { count, webhookIds: webhooks.map(({ id }) => id), ...columns }, webhooks }
  }

  return {
    part(shards, after) {
      let [position, webhook] = after === undefined ? [-1, -1] : after.split('/').map(Number)
      const numbers = new Float64Array(PART_SIZE * WIDTH)
      let end = 0
      while (end < numbers.length) {
        const { count, text } = load.get(position!, webhook!, TEXT_SIZE)!
        if (text !== null) end = parseIntegers(text, numbers, end)
        if (count < TEXT_SIZE) return toPart(numbers.subarray(0, end), shards)
        position = numbers[end - WIDTH]
        webhook = numbers[end - WIDTH + 1]
      }
      return { ...toPart(numbers, shards), cursor: `${position}/${webhook}` }
    },
    ofKeys(keys) {
      const texts = keys.flatMap(({ webhookId, position }) => {
        const endpoint = endpoints.byId(webhookId)
        return (endpoint && readOne.get(position, endpoint.key)?.text) ?? []
      })
      const numbers = new Float64Array(texts.length * WIDTH)
      if (texts.length > 0) parseIntegers(texts.join(), numbers, 0)
      return toPart(numbers)
    },
  }
}

/**
 * The offsets of rows so that lanes are in order. Positions grow with the sequence numbers of a call, unless the positions of
 * a group were mixed up.
 *
 * @param numbers rows in order of positions
 */
function inLaneOrder(numbers: Float64Array): Float64Array {
  const offsets = Float64Array.from({ length: numbers.length / WIDTH }, (_, row) => row * WIDTH)
  const sequences = new Map<number, number>()
  for (const at of offsets) {
    const [lane, sequence] = [numbers[at + 2]!, numbers[at + 3]!]
    if (lane === 0) continue
    if (sequence < (sequences.get(lane) ?? 0)) {
      return offsets.sort((a, b) => numbers[a + 3]! - numbers[b + 3]! || numbers[a]! - numbers[b]!)
    }
    sequences.set(lane, sequence)
  }
  return offsets
}
