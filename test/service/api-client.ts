/** An HTTP client without connection reuse, so that it leaves no open connection behind. */
import http from 'node:http'

// biome-ignore lint/suspicious/noExplicitAny: responses are read as plain data.
type Any = any

export interface ApiResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
  /** The parsed body; `undefined`: the body is empty. */
  readonly json: Any
}

export interface ApiRequest {
  readonly token?: string
  /** Sent as `{"data": …}`. */
  readonly data?: unknown
  /** The whole body as text; replaces `data`. */
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends a request to a local port and reads the whole response. */
export function callApi(
  port: number,
  method: string,
  path: string,
  options: ApiRequest = {},
): Promise<ApiResponse> {
  const body =
    options.body ?? (options.data === undefined ? undefined : JSON.stringify({ data: options.data }))
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
        ...(options.token !== undefined && { 'x-auth-token': options.token }),
        ...options.headers,
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
