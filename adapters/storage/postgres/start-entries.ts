/** Encodes starts as they are stored: 16 bytes each, as many in one row as a page takes without TOAST. Pure. */
import type { Start } from 'hookswitch/store'

const ENTRY_BYTES = 16
const ENTRIES_PER_ROW = 100

/** `undefined`: a webhook is unknown. */
export function encodeStarts(
  starts: readonly Start[],
  webhookKeys: { get(webhookId: string): number | undefined },
): readonly Buffer[] | undefined {
  const rows: Buffer[] = []
  for (let from = 0; from < starts.length; from += ENTRIES_PER_ROW) {
    const part = starts.slice(from, from + ENTRIES_PER_ROW)
    const row = Buffer.allocUnsafe(part.length * ENTRY_BYTES)
    let at = 0
    for (const { webhookId, position, attempt } of part) {
      const key = webhookKeys.get(webhookId)
      if (key === undefined) return undefined
      at = row.writeInt32BE(key, at)
      at = row.writeInt32BE(Math.floor(position / 2 ** 32), at)
      at = row.writeUInt32BE((position % 2 ** 32) >>> 0, at)
      at = row.writeInt32BE(attempt, at)
    }
    rows.push(row)
  }
  return rows
}

/** Key of the webhook, position, number of the attempt. */
export function decodeStarts(entries: Buffer): readonly (readonly [number, number, number])[] {
  return Array.from({ length: entries.length / ENTRY_BYTES }, (_, index) => {
    const at = index * ENTRY_BYTES
    const position = entries.readInt32BE(at + 4) * 2 ** 32 + entries.readUInt32BE(at + 8)
    return [entries.readInt32BE(at), position, entries.readInt32BE(at + 12)] as const
  })
}
