/** Writes a response part by part, each when the connection has taken the one before. */
import type { ServerResponse } from 'node:http'
import type { ResponseRecord } from 'hookswitch/adapter'
import type { AwaitTaken } from './unsent.js'

/** Middlewares that compress add `flush`: without it, a part would wait for the ones after it. */
type Flushable = ServerResponse & { flush?: unknown }

/** What is written: a `ResponseStream`, or the parts of a large body. */
export interface Parts {
  next(): Promise<string | Uint8Array | undefined>
  close(): void
  onAbort(abort: () => void): void
  /** Bytes that are in memory for this response alone. Default: those of the part that `next` returned last. */
  readonly held?: number
}

/** Bodies above this size are written in parts of this size. */
const PART_BYTES = 65_536

/** The parts of a body that is too large to be written at once; `undefined`: it is not. */
export function partsOf({ body, bytes }: ResponseRecord): Parts | undefined {
  if ((bytes ?? body).length <= PART_BYTES) return undefined
  const content = bytes ?? Buffer.from(body)
  let offset = 0
  return {
    async next() {
      if (offset >= content.length) return undefined
      const part = content.subarray(offset, offset + PART_BYTES)
      offset += part.length
      return part
    },
    close() {
      offset = content.length
    },
    onAbort() {},
    // Responses share bytes.
    held: bytes ? 0 : content.length,
  }
}

/** Resolves when the response is complete, or its client has gone. */
export async function sendParts(
  res: Flushable,
  { status, headers }: ResponseRecord,
  parts: Parts,
  awaitTaken: AwaitTaken,
): Promise<void> {
  let onDrain: (() => void) | undefined
  const destroy = () => void res.destroy()
  const stop = () => {
    parts.close()
    onDrain?.()
  }
  res.once('close', stop)
  // The client has gone while the request was handled, or the host has already responded.
  if (res.destroyed || res.headersSent || res.writableEnded) return stop()
  parts.onAbort(destroy)
  try {
    res.writeHead(status, headers)
    for (let part = await parts.next(); part !== undefined; part = await parts.next()) {
      const isTaken = res.write(part)
      if (typeof res.flush === 'function') res.flush()
      if (isTaken || res.destroyed) continue
      const release = awaitTaken(parts.held ?? part.length, destroy)
      await new Promise<void>((resolve) => {
        onDrain = resolve
        res.once('drain', resolve)
      })
      release()
      res.off('drain', onDrain!)
      onDrain = undefined
    }
    res.end()
    watchEnd(res, awaitTaken)
  } finally {
    parts.close()
  }
}

/** Closes the connection of a response that is written, if it does not take the end of it in time. */
export function watchEnd(res: ServerResponse, awaitTaken: AwaitTaken): void {
  const bytes = res.socket?.writableLength ?? 0
  if (bytes > 0)
    res.once(
      'close',
      awaitTaken(bytes, () => void res.destroy()),
    )
}
