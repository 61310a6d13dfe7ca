/** Lines out of chunks of text or bytes, cut anywhere. */
import { StringDecoder } from 'node:string_decoder'
import { HookswitchError } from 'hookswitch'
import { LONGEST_LINE } from './line.js'

/** A stream, or anything else that gives chunks one after the other. */
export type Chunks = AsyncIterable<string | Uint8Array>

/**
 * The lines, without their ends (LF or CRLF) and without empty ones; the last one may have no end.
 *
 * @throws `InvalidInput` for a line above 64 KiB
 */
export async function* linesOf(chunks: Chunks): AsyncGenerator<string, void, undefined> {
  const decoder = new StringDecoder('utf8')
  let rest = ''
  for await (const chunk of chunks) {
    rest +=
      typeof chunk === 'string'
        ? chunk
        : decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    let at = 0
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n', at)) {
      const line = lineOf(rest.slice(at, end))
      if (line !== '') yield line
      at = end + 1
    }
    rest = rest.slice(at)
    if (rest.length > LONGEST_LINE) lineOf(rest)
  }
  const last = lineOf(rest + decoder.end())
  if (last !== '') yield last
}

/**
 * The chunks, until they end or somebody calls what stands in `stops`. A stream that is silent then is left as it is:
 * nothing can take back that it was asked.
 */
export async function* endedBy(chunks: Chunks, stops: Set<() => void>): Chunks {
  const from = chunks[Symbol.asyncIterator]()
  let isOver = false
  let stopWaiting = () => {}
  const stop = () => {
    isOver = true
    stopWaiting()
  }
  stops.add(stop)
  try {
    while (!isOver) {
      const next = await new Promise<IteratorResult<string | Uint8Array> | undefined>((resolve, reject) => {
        stopWaiting = () => resolve(undefined)
        from.next().then(resolve, reject)
      })
      if (!next || next.done) return
      yield next.value
    }
  } finally {
    stops.delete(stop)
    // Not waited for: a silent stream ends it when it says something.
    void Promise.resolve(from.return?.()).catch(() => {})
  }
}

function lineOf(text: string): string {
  const line = text.trim()
  if (line.length <= LONGEST_LINE) return line
  throw new HookswitchError('InvalidInput', `a line is longer than ${LONGEST_LINE} characters`)
}
