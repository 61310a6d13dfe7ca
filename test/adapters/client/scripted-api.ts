/** A server that answers as a test says: for responses that the service would never send. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'

export interface ScriptedRequest {
  readonly method: string
  /** With the query. */
  readonly path: string
  readonly token: string | undefined
  readonly body: string
}

export interface ScriptedApi {
  readonly url: string
  /** Every request so far, logins included. */
  readonly requests: readonly ScriptedRequest[]
  /** The requests so far without logins. */
  calls(): readonly ScriptedRequest[]
  logins(): number
}

/** Answers one request; `nth` counts the requests without logins from 0. */
export type Answer = (response: ServerResponse, request: ScriptedRequest, nth: number) => unknown

export const TOKEN = 'token-of-the-scripted-api'

/** Sends an envelope of the API. */
export function succeed(response: ServerResponse, data: unknown, fields: object = {}, status = 200): void {
  respond(response, status, { data, status: 'success', request_id: 'r', ...fields })
}

export function fail(
  response: ServerResponse,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
  data: object = {},
): void {
  const body = { data, error: String(status), message, status: 'error', request_id: 'r' }
  respond(response, status, body, headers)
}

function respond(response: ServerResponse, status: number, body: object, headers: object = {}): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Starts the server. It issues a token for every login; `answer` gets the other requests. */
export async function scriptedApi(answer: Answer, logIn?: Answer): Promise<ScriptedApi> {
  const requests: ScriptedRequest[] = []
  const isLogin = ({ path }: ScriptedRequest) => /_auth$/.test(path) && !path.includes('token_auth')
  const calls = () => requests.filter((request) => !isLogin(request))
  const logins = () => requests.filter(isLogin).length
  const sockets = new Set<Socket>()
  const server = createServer(async (incoming: IncomingMessage, response: ServerResponse) => {
    const request = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      token: incoming.headers['x-auth-token'] as string | undefined,
      body: await text(incoming).catch(() => ''),
    }
    requests.push(request)
    if (!isLogin(request)) return answer(response, request, calls().length - 1)
    if (logIn) return logIn(response, request, logins() - 1)
    succeed(response, { account_id: 'a' }, { auth_token: `${TOKEN}-${logins()}` }, 201)
  }).listen(0, '127.0.0.1')
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
    // A test may cut the connection.
    socket.on('error', () => {})
  })
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as { port: number }
  return { url: `http://127.0.0.1:${port}`, requests, calls, logins }
}
