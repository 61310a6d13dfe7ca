/** Parses HTTP/1 requests from the bytes of one connection. */

/** One request as it was sent. */
export interface WireRequest {
  /** HTTP method as sent. */
  readonly method: string
  /** Request target as sent: path and query. */
  readonly target: string
  /** Flat: name, value, name, value, … as sent. */
  readonly rawHeaders: readonly string[]
  /** The body, with chunked encoding removed. */
  readonly body: Buffer
}

/**
 * Creates a parser for one connection (RFC 9112: Content-Length and chunked bodies, pipelining). The returned
 * function takes the next bytes, returns the requests that they complete, and throws if they are not HTTP.
 */
export function createRequestParser(): (chunk: Buffer) => readonly WireRequest[] {
  let pending: Buffer = Buffer.alloc(0)
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    const complete: WireRequest[] = []
    for (let parsed = parseRequest(pending); parsed; parsed = parseRequest(pending)) {
      complete.push(parsed.value)
      pending = pending.subarray(parsed.bytes)
    }
    return complete
  }
}

/** Header value by lower-case name: all values of the name joined with a comma (RFC 9110 5.3), or undefined. */
export function headerValue(rawHeaders: readonly string[], name: string): string | undefined {
  const values = rawHeaders.filter(
    (_, index) => index % 2 === 1 && rawHeaders[index - 1]!.toLowerCase() === name,
  )
  return values.length === 0 ? undefined : values.join(', ')
}

/** A parsed part of the input, and its length. */
interface Parsed<Value> {
  readonly bytes: number
  readonly value: Value
}

function parseRequest(input: Buffer): Parsed<WireRequest> | undefined {
  const headEnd = input.indexOf('\r\n\r\n')
  if (headEnd < 0) return undefined
  const [startLine = '', ...lines] = input.toString('latin1', 0, headEnd).split('\r\n')
  const [, method, target] = /^(\S+) (\S+) HTTP\/1\.[01]$/.exec(startLine) ?? []
  if (!method || !target)
    throw new Error(`not an HTTP request line: ${JSON.stringify(startLine.slice(0, 80))}`)

  const rawHeaders = lines.flatMap((line) => {
    const colon = line.indexOf(':')
    if (colon < 1) throw new Error(`not an HTTP header: ${JSON.stringify(line.slice(0, 80))}`)
    return [line.slice(0, colon), line.slice(colon + 1).trim()]
  })
  const body = parseBody(input.subarray(headEnd + 4), rawHeaders)
  if (!body) return undefined
  const bytes = headEnd + 4 + body.bytes
  return { bytes, value: { method, target, rawHeaders, body: body.value } }
}

function parseBody(input: Buffer, rawHeaders: readonly string[]): Parsed<Buffer> | undefined {
  if (headerValue(rawHeaders, 'transfer-encoding')?.toLowerCase() === 'chunked') return parseChunks(input)
  const length = Number(headerValue(rawHeaders, 'content-length') ?? 0)
  if (!Number.isSafeInteger(length) || length < 0) throw new Error(`invalid Content-Length: ${length}`)
  // A copy: the log outlives the connection's buffer.
  return input.length < length ? undefined : { bytes: length, value: Buffer.from(input.subarray(0, length)) }
}

function parseChunks(input: Buffer): Parsed<Buffer> | undefined {
  const chunks: Buffer[] = []
  for (let start = 0; ; ) {
    const lineEnd = input.indexOf('\r\n', start)
    if (lineEnd < 0) return undefined
    const size = Number.parseInt(input.toString('latin1', start, lineEnd), 16)
    if (!(size >= 0)) throw new Error('invalid chunk size')
    if (size === 0) {
      // The trailer section ends with an empty line, which follows directly if there are no trailer fields.
      const end = input.indexOf('\r\n\r\n', lineEnd)
      return end < 0 ? undefined : { bytes: end + 4, value: Buffer.concat(chunks) }
    }
    const next = lineEnd + 2 + size + 2
    if (input.length < next) return undefined
    chunks.push(input.subarray(lineEnd + 2, next - 2))
    start = next
  }
}
