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
    rest +=
      typeof chunk === 'string'
        ? chunk
        : decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    let at = 0
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', at)) {
      const line = trimAndCheck(rest.slice(at, end))
      if (line !== '') yield line
      at = end + 1
    }
    rest = rest.slice(at)
    if (rest.length > MAX_LINE_LENGTH) trimAndCheck(rest)
  }
  const last = trimAndCheck(rest + decoder.end())
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

function trimAndCheck(text: string): string {
  const line = text.trim()
  if (line.length <= MAX_LINE_LENGTH) return line
  throw new HookswitchError('InvalidInput', `a line is longer than ${MAX_LINE_LENGTH} characters`)
}
