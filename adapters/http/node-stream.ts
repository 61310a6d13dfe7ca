/** Writes a response that is a stream, as fast as the connection takes it. */
import type { ServerResponse } from 'node:http'
import type { ResponseRecord, ResponseStream } from 'hookswitch'

/** Middlewares that compress add `flush`: without it, a part would wait for the ones after it. */
type Flushable = ServerResponse & { flush?: unknown }

/** Resolves when the response is complete, or its client has gone. */
export async function sendStream(
  res: Flushable,
  { status, headers }: ResponseRecord,
  stream: ResponseStream,
): Promise<void> {
  let onDrain: (() => void) | undefined
  const stop = () => {
    stream.close()
    onDrain?.()
  }
  res.once('close', stop)
  // The client has gone while the request was handled, or the host has already responded.
  if (res.destroyed || res.headersSent || res.writableEnded) return stop()
  stream.onAbort(() => res.destroy())
  try {
    res.writeHead(status, headers)
    for (let part = await stream.next(); part !== undefined; part = await stream.next()) {
      const isTaken = res.write(part)
      if (typeof res.flush === 'function') res.flush()
      if (isTaken || res.destroyed) continue
      await new Promise<void>((resolve) => {
        onDrain = resolve
        res.once('drain', resolve)
      })
      res.off('drain', onDrain!)
      onDrain = undefined
    }
    res.end()
  } finally {
    stream.close()
  }
}
