/** Splits chunks of text or bytes, which may end anywhere, into lines. */
import { StringDecoder } from 'node:string_decoder'
import { HookswitchError } from 'hookswitch'
import { MAX_LINE_LENGTH } from './line.js'

/** A readable stream, or any other async iterable of chunks. */
export type Chunks = AsyncIterable<string | Uint8Array>

/**
 * The non-empty lines without their line ends (LF or CRLF); the last line needs no line end.
 *
 * @throws `InvalidInput` for a line above 64 KiB
 */
export async function* splitLines(chunks: Chunks): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of chunks) {
    const text =
      typeof chunk === 'string'
        ? chunk
        : decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    let at = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', at)) {
      const line = checkLine(rest + text.slice(at, end)).trimEnd()
      if (line !== '') yield line
      rest = ''
      at = end + 1
    }
    rest += text.slice(at)
    if (rest.length > MAX_LINE_LENGTH) rest = checkLine(rest)
  }
  const last = checkLine(rest + decoder.end()).trimEnd()
  if (last !== '') yield last
}

/**
 * The chunks, until the stream ends or the function that this adds to `stops` is called. A read that is pending then is
 * abandoned, because it cannot be cancelled.
 */
export async function* stoppable(chunks: Chunks, stops: Set<() => void>): Chunks {
  const iterator = chunks[Symbol.asyncIterator]()
  let isStopped = false
  let stopWaiting = () => {}
  const stop = () => {
    isStopped = true
    stopWaiting()
  }
  stops.add(stop)
  try {
    while (!isStopped) {
      const next = await new Promise<IteratorResult<string | Uint8Array> | undefined>((resolve, reject) => {
        stopWaiting = () => resolve(undefined)
        iterator.next().then(resolve, reject)
      })
      if (!next || next.done) return
      yield next.value
    }
  } finally {
    stops.delete(stop)
    // Not awaited: it may settle only with the pending read.
    void Promise.resolve(iterator.return?.()).catch(() => {})
  }
}

/** Returns a line without the spaces in front of it. Those behind it count, except the CR of its end. */
function checkLine(text: string): string {
  const line = text.trimStart()
  if (line.length <= MAX_LINE_LENGTH + (line.endsWith('\r') ? 1 : 0)) return line
  throw new HookswitchError('InvalidInput', `a line is longer than ${MAX_LINE_LENGTH} characters`)
}
