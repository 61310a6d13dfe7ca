/** Decodes waiting deliveries: 56 bytes each, as `sql/queue.ts` encodes them, into columns. Pure. */
import { compareInLane, type WaitingDeliveries, type Webhook } from 'hookswitch/store'
import { webhookOf } from './rows.js'

const ENTRY_BYTES = 56

/** The bytes of a `bytea` as PostgreSQL writes it in text. */
export const bytesOf = (text: string | null): Buffer => Buffer.from(text === null ? '' : text.slice(2), 'hex')

export interface DecodedRows {
  readonly waiting: WaitingDeliveries
  readonly webhooks: readonly Webhook[]
  /** Keys of the webhooks, in their order. */
  readonly keys: readonly number[]
}

export function decodeRows(waiting: string | null, webhooksJson: string | null): DecodedRows {
  const rows = bytesOf(waiting)
  const listed = JSON.parse(webhooksJson ?? '[]') as [number, string, string | null][]
  const webhooks = listed.map(([, doc, health]) => webhookOf({ doc, health }))
  const indexes = new Map(listed.map(([key], index) => [key, index]))
  const count = rows.length / ENTRY_BYTES
  const columns: WaitingDeliveries = {
    count,
    webhookIds: webhooks.map(({ id }) => id),
    webhook: new Uint32Array(count),
    position: new Float64Array(count),
    lane: new Float64Array(count),
    sequence: new Uint32Array(count),
    dueMs: new Float64Array(count),
    epoch: new Uint32Array(count),
    attempts: new Uint32Array(count),
    tries: new Uint32Array(count),
    interruptions: new Uint8Array(count),
    failedMs: new Float64Array(count),
  }
  const order = orderInLanes(rows, count)
  const long = (at: number) => rows.readInt32BE(at) * 2 ** 32 + rows.readUInt32BE(at + 4)
  for (let index = 0; index < count; index += 1) {
    const at = (order ? order[index]! : index) * ENTRY_BYTES
    columns.webhook[index] = indexes.get(rows.readInt32BE(at))!
    columns.position[index] = long(at + 4)
    columns.lane[index] = long(at + 12)
    columns.sequence[index] = rows.readInt32BE(at + 20)
    columns.dueMs[index] = rows.readDoubleBE(at + 24)
    columns.epoch[index] = rows.readInt32BE(at + 32)
    columns.attempts[index] = rows.readInt32BE(at + 36)
    columns.tries[index] = rows.readInt32BE(at + 40)
    columns.interruptions[index] = Math.min(rows.readInt32BE(at + 44), 255)
    columns.failedMs[index] = rows.readDoubleBE(at + 48)
  }
  return { waiting: columns, webhooks, keys: listed.map(([key]) => key) }
}

/**
 * Rows come in order of their positions. Where clocks of nodes differ, the sequence numbers of a lane have another order:
 * then its rows change places among each other. `undefined`: no lane needs that.
 */
function orderInLanes(rows: Buffer, count: number): Uint32Array | undefined {
  const placeAt = (index: number) => {
    const at = index * ENTRY_BYTES
    return {
      sequence: rows.readInt32BE(at + 20),
      position: rows.readInt32BE(at + 4) * 2 ** 32 + rows.readUInt32BE(at + 8),
    }
  }
  const nameAt = (index: number) => {
    const at = index * ENTRY_BYTES
    return `${rows.readInt32BE(at)}/${rows.readInt32BE(at + 12)}/${rows.readUInt32BE(at + 16)}`
  }
  const last = new Map<string, number>()
  const unordered = new Set<string>()
  for (let index = 0; index < count; index += 1) {
    const at = index * ENTRY_BYTES
    if (rows.readInt32BE(at + 12) === 0 && rows.readUInt32BE(at + 16) === 0) continue
    const sequence = rows.readInt32BE(at + 20)
    const name = nameAt(index)
    if (sequence < (last.get(name) ?? 0)) unordered.add(name)
    last.set(name, sequence)
  }
  if (unordered.size === 0) return undefined
  const order = Uint32Array.from({ length: count }, (_, index) => index)
  const lanes = new Map<string, number[]>()
  for (let index = 0; index < count; index += 1) {
    const name = nameAt(index)
    if (!unordered.has(name)) continue
    const lane = lanes.get(name)
    if (lane) lane.push(index)
    else lanes.set(name, [index])
  }
  for (const lane of lanes.values()) {
    const sorted = [...lane].sort((a, b) => compareInLane(placeAt(a), placeAt(b)))
    lane.forEach((index, place) => {
      order[index] = sorted[place]!
    })
  }
  return order
}
