/** HTTP over a bare socket, so that no client library changes a request. */
import net from 'node:net'

export interface RawResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** A connection that writes bytes and reads whole responses. */
export interface RawConnection {
  write(bytes: string | Uint8Array): void
  /** Reads the next response, including interim (1xx) ones. Rejects if the connection ends before it is complete. */
  next(options?: { head?: boolean }): Promise<RawResponse>
  /** Resolves when the server closes its side. */
  readonly closed: Promise<void>
  readonly socket: net.Socket
  end(): void
}

export async function connect(port: number): Promise<RawConnection> {
  const socket = net.connect({ port, host: '127.0.0.1' })
  await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  let received = Buffer.alloc(0)
  let isEnded = false
  let wake = () => {}
  const closed = new Promise<void>((resolve) => {
    const end = () => {
      isEnded = true
      wake()
      resolve()
    }
    socket.on('end', end).on('close', end).on('error', end)
  })
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    wake()
  })
  return {
    socket,
    closed,
    write: (bytes) => void socket.write(bytes),
    end: () => socket.destroy(),
    next: async ({ head = false } = {}) => {
      for (;;) {
        const parsed = parseResponse(received, isEnded, head)
        if (parsed !== undefined) {
          received = received.subarray(parsed.size)
          return parsed.response
        }
        if (isEnded) throw new Error(`connection ended after: ${JSON.stringify(received.toString('latin1'))}`)
        await new Promise<void>((resolve) => {
          wake = resolve
        })
      }
    },
  }
}

/** Sends bytes on a new connection and returns the first final response. */
export async function sendRaw(
  port: number,
  bytes: string | Uint8Array,
  options?: { head?: boolean },
): Promise<RawResponse> {
  const connection = await connect(port)
  try {
    connection.write(bytes)
    for (;;) {
      const response = await connection.next(options)
      if (response.status >= 200) return response
    }
  } finally {
    connection.end()
  }
}

function parseResponse(
  bytes: Buffer,
  isEnded: boolean,
  head: boolean,
): { response: RawResponse; size: number } | undefined {
  const headEnd = bytes.indexOf('\r\n\r\n')
  if (headEnd === -1) return undefined
  const [first = '', ...lines] = bytes.toString('latin1', 0, headEnd).split('\r\n')
  const status = Number(first.split(' ')[1])
  const headers: Record<string, string> = {}
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers[line.slice(0, colon).toLowerCase()] = line.slice(colon + 1).trim()
  }
  const rest = bytes.subarray(headEnd + 4)
  const done = (body: Buffer, size: number) => ({
    response: { status, headers, body: body.toString('utf8') },
    size: headEnd + 4 + size,
  })
  if (head || status < 200 || status === 204 || status === 304) return done(Buffer.alloc(0), 0)
  if (headers['transfer-encoding'] === 'chunked') return decodeChunks(rest, done)
  if (headers['content-length'] === undefined) return isEnded ? done(rest, rest.length) : undefined
  const length = Number(headers['content-length'])
  return rest.length < length ? undefined : done(rest.subarray(0, length), length)
}

function decodeChunks<T>(bytes: Buffer, done: (body: Buffer, size: number) => T): T | undefined {
  const chunks: Buffer[] = []
  for (let offset = 0; ; ) {
    const lineEnd = bytes.indexOf('\r\n', offset)
    if (lineEnd === -1) return undefined
    const size = Number.parseInt(bytes.toString('latin1', offset, lineEnd), 16)
    const start = lineEnd + 2
    if (bytes.length < start + size + 2) return undefined
    if (size === 0) return done(Buffer.concat(chunks), start + 2)
    chunks.push(bytes.subarray(start, start + size))
    offset = start + size + 2
  }
}
