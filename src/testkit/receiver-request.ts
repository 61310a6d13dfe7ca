/** One request as it came off the wire. */
export interface WireRequest {
  /** As sent, so in upper case from any usual client. */
  readonly method: string
  /** The request target as sent: path and query. */
  readonly target: string
  /** Flat: name, value, name, value, … as sent. */
  readonly rawHeaders: readonly string[]
  readonly body: Buffer
}

/**
 * Cuts the bytes of one connection into requests (RFC 9112: Content-Length and chunked bodies, pipelining). The
 * returned function takes the next chunk, gives the requests that it completed, and throws at what is no HTTP.
 */
export function requestReader(): (chunk: Buffer) => readonly WireRequest[] {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    const complete: WireRequest[] = []
    for (let taken = takeRequest(pending); taken; taken = takeRequest(pending)) {
      complete.push(taken.request)
      pending = pending.subarray(taken.bytes)
    }
    return complete
  }
}

/** Header value by lower-case name: all of that name joined with a comma (RFC 9110 5.3), or undefined. */
export function headerOf(rawHeaders: readonly string[], name: string): string | undefined {
  const values = rawHeaders.filter((_, at) => at % 2 === 1 && rawHeaders[at - 1]!.toLowerCase() === name)
  return values.length === 0 ? undefined : values.join(', ')
}

interface Taken<Part> {
  readonly bytes: number
  readonly request: Part
}

function takeRequest(input: Buffer): Taken<WireRequest> | undefined {
  const headEnd = input.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [startLine = '', ...lines] = input.toString('latin1', 0, headEnd).split('\r\n')
  const [, method, target] = /^(\S+) (\S+) HTTP\/1\.[01]$/.exec(startLine) ?? []
  if (!method || !target) throw new Error(`no HTTP request line: ${JSON.stringify(startLine.slice(0, 80))}`)

  const rawHeaders = lines.flatMap((line) => {
    const colon = line.indexOf(':')
    if (colon < 1) throw new Error(`no HTTP header: ${JSON.stringify(line.slice(0, 80))}`)
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  const body = takeBody(input.subarray(headEnd + 4), rawHeaders)
  if (!body) return undefined
  const bytes = headEnd + 4 + body.bytes
  return { bytes, request: { method, target, rawHeaders, body: body.request } }
}

function takeBody(input: Buffer, rawHeaders: readonly string[]): Taken<Buffer> | undefined {
  if (headerOf(rawHeaders, 'transfer-encoding')?.toLowerCase() === 'chunked') return takeChunks(input)
  const length = Number(headerOf(rawHeaders, 'content-length') ?? 0)
  if (!Number.isSafeInteger(length) || length < 0) throw new Error(`no Content-Length: ${length}`)
  // A copy: the log outlives the connection's buffer.
  return input.length < length
    ? undefined
    : { bytes: length, request: Buffer.from(input.subarray(0, length)) }
}

function takeChunks(input: Buffer): Taken<Buffer> | undefined {
  const chunks: Buffer[] = []
  for (let at = 0; ; ) {
    const lineEnd = input.indexOf('\r\n', at)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(input.toString('latin1', at, lineEnd), 16)
    if (!(size >= 0)) throw new Error('no chunk size')
    if (size === 0) {
      // The trailer section ends with an empty line, which is at once there when it has no fields.
      const end = input.indexOf('\r\n\r\n', lineEnd)
      return end < 0 ? undefined : { bytes: end + 4, request: Buffer.concat(chunks) }
    }
    const next = lineEnd + 2 + size + 2
    if (input.length < next) return undefined
    chunks.push(input.subarray(lineEnd + 2, next - 2))
    at = next
  }
}
