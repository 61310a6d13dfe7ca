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
 * The chunks, until they end or `isOver`; who makes it so calls what stands in `wakes`, which is called in vain, too.
 * A stream that is silent is left as it is: nothing can take back that it was asked.
 */
export async function* endedBy(chunks: Chunks, wakes: Set<() => void>, isOver: () => boolean): Chunks {
  const from = chunks[Symbol.asyncIterator]()
  try {
    while (!isOver()) {
      const next = await nextOrOver(from.next(), wakes, isOver)
      if (!next || next.done) return
      yield next.value
    }
  } finally {
    // Not waited for: of a silent stream it ends when that says something.
    void Promise.resolve(from.return?.()).catch(() => {})
  }
}

async function nextOrOver<Item>(
  next: Promise<Item>,
  wakes: Set<() => void>,
  isOver: () => boolean,
): Promise<Item | undefined> {
  return await new Promise((resolve, reject) => {
    const wake = () => (isOver() ? resolve(undefined) : void queueMicrotask(() => wakes.add(wake)))
    wakes.add(wake)
    next.then(resolve, reject).finally(() => wakes.delete(wake))
  })
}

function lineOf(text: string): string {
  const line = text.trim()
  if (line.length <= LONGEST_LINE) return line
  throw new HookswitchError('InvalidInput', `a line is longer than ${LONGEST_LINE} characters`)
}
