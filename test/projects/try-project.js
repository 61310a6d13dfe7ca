// @ts-check
/** Starts a built project and does what a customer does: logs in, creates a webhook, gets a call; then stops it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'

/** A project that has not started, delivered and stopped after this time hangs. */
const HANGS_AFTER_MS = 120_000
const POLL_MS = 50

/**
 * Rejects with what is wrong, and with what the project printed.
 *
 * @param {object} project
 * @param {string} project.folder where it is installed and built
 * @param {string} project.command its `start` script
 * @param {{ readonly api: string, readonly page?: string }} project.paths of the API, before `/v1`, and of the page
 */
export async function tryProject({ folder, command, paths }) {
  const receiver = await startReceiver()
  const port = await freePort()
  const child = spawn('sh', ['-c', withExec(command)], {
    cwd: folder,
    env: {
      ...process.env,
      PATH: `${folder}/node_modules/.bin:${process.env.PATH}`,
      PORT: String(port),
      ALLOW_LOCAL: '1',
      NEXT_TELEMETRY_DISABLED: '1',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part) => (printed += part))
  const exit = once(child, 'exit')
  const limit = setTimeout(() => child.kill('SIGKILL'), HANGS_AFTER_MS)
  try {
    const origin = `http://127.0.0.1:${port}`
    await untilAnswered(`${origin}${paths.api}/v1/webhooks`, child)
    if (paths.page !== undefined) await openPage(`${origin}${paths.page}`)
    await deliverAndStop({ origin, prefix: paths.api, receiver, child, exit })
    assert.doesNotMatch(printed, /error|warning/i)
  } catch (error) {
    throw new Error(`${/** @type {Error} */ (error).message}\nThe project printed:\n${printed}`)
  } finally {
    clearTimeout(limit)
    child.kill('SIGKILL')
    receiver.server.closeAllConnections()
    receiver.server.close()
  }
}

/** Lets the program take the place of the shell, so that it gets the signal. @param {string} command */
const withExec = (command) => command.replace(/^((?:\w+=\S+ )*)/, '$1exec ')

/** Follows the redirect of the page, and loads its script. @param {string} url */
async function openPage(url) {
  const page = await fetch(url)
  assert.deepEqual([page.status, page.url], [200, `${url}/`])
  const [, source = ''] = /<script [^>]*src="([^"]+)"/.exec(await page.text()) ?? []
  const script = await fetch(new URL(source, page.url))
  await script.arrayBuffer()
  assert.deepEqual([script.status, /javascript/.test(script.headers.get('content-type') ?? '')], [200, true])
}

/**
 * @param {object} running
 * @param {string} running.origin
 * @param {string} running.prefix
 * @param {Awaited<ReturnType<typeof startReceiver>>} running.receiver
 * @param {import('node:child_process').ChildProcess} running.child
 * @param {Promise<unknown[]>} running.exit
 */
async function deliverAndStop({ origin, prefix, receiver, child, exit }) {
  const api = `${origin}${prefix}/v1`
  const credentials = createHash('md5').update('alice:wonderland').digest('hex')
  const login = await send('PUT', `${api}/user_auth`, {
    data: { credentials, account_realm: 'acme.example' },
  })
  assert.equal(login.status, 201, 'the login is refused')
  const token = { 'x-auth-token': login.body.auth_token }

  const data = { name: 'Calls', uri: `${receiver.url}/calls`, hook: 'channel_create' }
  const created = await send('PUT', `${api}/accounts/acme/webhooks`, { data }, token)
  assert.equal(created.status, 201, 'the webhook is refused')
  const { id } = created.body.data
  const path = `${prefix}/v1/accounts/acme/webhooks/${id}`
  assert.equal(new URL(created.headers.get('location') ?? '', origin).pathname, path)
  const { secret } = (await send('GET', `${origin}${path}/secret`, undefined, token)).body.data

  const call = { callId: 'leg-1', from: '+12025550123@carrier.example', to: '1001@acme.example' }
  const accepted = await send('POST', `${origin}/calls`, call)
  assert.equal(accepted.status, 202, 'the call is refused')
  const request = await receiver.next()
  // By a library of others.
  const payload = /** @type {Record<string, unknown>} */ (
    new Webhook(secret).verify(request.body, request.headers)
  )
  const { hook_event, call_id, event_id, from } = payload
  assert.deepEqual(
    { hook_event, call_id, event_id, from },
    { hook_event: 'channel_create', call_id: 'leg-1', event_id: accepted.body.eventId, from: call.from },
  )
  request.answer()

  // A request to a receiver that is in flight at the signal is waited for.
  await send('POST', `${origin}/calls`, { ...call, callId: 'leg-2' })
  const last = await receiver.next()
  child.kill('SIGTERM')
  await untilStopping(`${origin}${path}`, token)
  assert.equal(last.isOpen(), true, 'the process ended with a request in flight')
  last.answer()
  const [code, signal] = await exit
  assert.equal(await last.wasTaken, true, 'the process ended before the response to its request arrived')
  // Nest sends itself the signal again when it has closed everything.
  assert.ok(code === 0 || signal === 'SIGTERM', `the process ended with ${code ?? signal}`)
}

/**
 * @param {string} method
 * @param {string} url
 * @param {object} [body]
 * @param {Record<string, string>} [headers]
 */
async function send(method, url, body, headers) {
  const response = await fetch(url, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: /** @type {any} */ (await response.json()),
  }
}

/** A receiver whose requests wait for an answer. */
async function startReceiver() {
  /** @typedef {{ headers: Record<string, string>, body: string, answer(): void, isOpen(): boolean, wasTaken: Promise<boolean> }} Received */
  /** @type {Received[]} */
  const arrived = []
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const closed = once(response, 'close')
    arrived.push({
      headers: /** @type {Record<string, string>} */ (request.headers),
      body,
      answer: () => void response.writeHead(204).end(),
      isOpen: () => !response.destroyed,
      wasTaken: closed.then(() => response.writableFinished),
    })
    server.emit('arrived')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    server,
    url: `http://127.0.0.1:${port}`,
    /** @returns {Promise<Received>} */
    async next() {
      const first = arrived.shift()
      if (first) return first
      await once(server, 'arrived', { signal: AbortSignal.timeout(HANGS_AFTER_MS) })
      return this.next()
    },
  }
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  server.close()
  await once(server, 'close')
  return port
}

/**
 * Waits until the API answers.
 *
 * @param {string} url
 * @param {import('node:child_process').ChildProcess} child
 */
async function untilAnswered(url, child) {
  while ((await statusOf(url)) === undefined) {
    assert.equal(child.exitCode ?? child.signalCode, null, 'the process ended before the API answered')
    await sleep(POLL_MS)
  }
}

/**
 * Waits until the API answers no more, or only that it closes.
 *
 * @param {string} url
 * @param {Record<string, string>} token
 */
async function untilStopping(url, token) {
  while ((await statusOf(url, token)) === 200) await sleep(POLL_MS)
}

/**
 * Opens a new connection each time. A closing server waits for a connection that stays in use, and the request in flight would
 * time out meanwhile.
 *
 * @param {string} url
 * @param {Record<string, string>} [headers]
 * @returns {Promise<number | undefined>}
 */
const statusOf = (url, headers = {}) =>
  new Promise((resolve) => {
    get(url, { headers, agent: false }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode))
      response.on('error', () => resolve(undefined))
    }).on('error', () => resolve(undefined))
  })
