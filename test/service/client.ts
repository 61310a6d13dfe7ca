/** A client over bare connections: one per request, so that nothing of it is left behind. */
import http from 'node:http'

// biome-ignore lint/suspicious/noExplicitAny: answers are read as plain data.
type Any = any

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The parsed body; undefined where it is empty. */
  readonly json: Any
}

export interface Ask {
  readonly token?: string
  /** Put under `data`. */
  readonly data?: unknown
  /** The whole body as text, instead of `data`. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request to a port of this machine and reads the whole answer. */
export function ask(port: number, method: string, path: string, what: Ask = {}): Promise<Answer> {
  const body = what.body ?? (what.data === undefined ? undefined : JSON.stringify({ data: what.data }))
  return new Promise((resolve, reject) => {
    const request = http.request({
      host: '127.0.0.1',
      port,
      method,
      path,
      agent: false,
      headers: {
        ...(body !== undefined && {
          'content-type': 'application/json',
          'content-length': Buffer.byteLength(body),
        }),
        ...(what.token !== undefined && { 'x-auth-token': what.token }),
        ...what.headers,
      },
    })
    request.on('error', reject).on('response', (response) => {
      const chunks: Buffer[] = []
      response
        .on('data', (chunk) => chunks.push(chunk))
        .on('error', reject)
        .on('end', () => {
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            text,
            json: text === '' ? undefined : JSON.parse(text),
          })
        })
    })
    request.end(body)
  })
}
