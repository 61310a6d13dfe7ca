import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

/** A response of the API: its status, and `data` of its body. */
export interface ApiResponse {
  readonly status: number
  readonly data: Record<string, unknown> & { readonly id?: string }
  readonly token?: string
}

/** Calls the HTTP API like a client in another language. */
export async function call(
  url: string,
  method: string,
  path: string,
  { data, token }: { readonly data?: unknown; readonly token?: string | undefined } = {},
): Promise<ApiResponse> {
  const response = await fetch(`${url}/v1${path}`, {
    method,
    headers: {
      'content-type': 'application/json',
      ...(token === undefined ? {} : { 'x-auth-token': token }),
    },
    ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
  })
  const body = (await response.json()) as { data: ApiResponse['data']; auth_token?: string }
  return {
    status: response.status,
    data: body.data,
    ...(body.auth_token === undefined ? {} : { token: body.auth_token }),
  }
}

/** One request to a receiver. */
export interface ReceivedRequest {
  readonly id: string
  readonly attempt: number
  readonly body: string
}

/** Starts a receiver for the duration of the test. It responds with the current `state.status`. */
export async function receiver() {
  const received: ReceivedRequest[] = []
  const state = { status: 200 }
  const server = createServer(async (request, response) => {
    const { 'webhook-id': id, 'x-hook-attempt': attempt } = request.headers
    received.push({ id: String(id), attempt: Number(attempt), body: await text(request) })
    response.writeHead(state.status).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close().closeAllConnections())
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, received, state }
}
