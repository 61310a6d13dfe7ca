// @ts-check
/** What a situation is made of: nodes in processes of their own, receivers, and events. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createClient } from 'hookswitch/client'

const built = (/** @type {string} */ name) => fileURLToPath(new URL(`../../dist/${name}`, import.meta.url))
const TROUBLES = new URL('troubles.js', import.meta.url).href
const SECRET = '5'.repeat(64)

/** @param {number} ms */
export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms))

/** Ports that `freePort` has returned. @type {Set<number>} */
const given = new Set()

/** A port that is free now, and that no other part of this run gets. @returns {Promise<number>} */
export async function freePort() {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
  probe.close()
  if (given.has(port)) return freePort()
  given.add(port)
  return port
}

/** @typedef {{ id: string, name: string, realm: string, apiKey: string }} Account */

/** `platform` is the operator. @type {readonly Account[]} */
export const ACCOUNTS = ['platform', 'acme', 'alpha'].map((id) => ({
  id,
  name: id,
  realm: `${id}.example`,
  apiKey: `${id}-key-`.padEnd(40, '0'),
}))

/**
 * A node that can be ended and started again at the same addresses.
 *
 * @param {object} options
 * @param {string} options.folder for its accounts file and its log
 * @param {string} options.name
 * @param {readonly string[]} options.flags of the program
 * @param {readonly string[]} [options.nodeFlags] of Node itself
 * @param {Readonly<Record<string, string>>} [options.env]
 */
export async function createNode({ folder, name, flags, nodeFlags = [], env = {} }) {
  const [port, adminPort] = [await freePort(), await freePort()]
  const accounts = join(folder, 'accounts.json')
  await writeFile(accounts, JSON.stringify(ACCOUNTS))
  const log = createWriteStream(join(folder, `${name}.log`), { flags: 'a' })
  const url = `http://127.0.0.1:${port}`
  const argv = ['--port', port, '--admin-port', adminPort, '--accounts', accounts, '--operator', 'platform']
  const common = [
    '--node-name',
    name,
    '--ingest',
    '--allow-local',
    '--log',
    'json',
    '--login-burst',
    'unlimited',
  ]
  /** @type {import('node:child_process').ChildProcess | undefined} */
  let child
  /** @type {Promise<unknown>} */
  let exited = Promise.resolve()
  const clients = new Map(
    ACCOUNTS.map(({ id, apiKey }) => [id, createClient({ url, apiKey, maxRetries: 0, timeoutMs: 12_000 })]),
  )

  /** @param {NodeJS.Signals} signal */
  async function end(signal) {
    child?.kill('SIGCONT')
    child?.kill(signal)
    await exited
    child = undefined
  }

  return {
    name,
    target: `127.0.0.1:${adminPort}`,
    /** @param {string} [account] */
    client: (account = 'acme') =>
      /** @type {import('hookswitch/client').HookswitchClient} */ (clients.get(account)),
    /** @param {Readonly<Record<string, string>>} [more] further variables */
    async start(more = {}) {
      child = spawn(
        process.execPath,
        [
          ...nodeFlags,
          '--import',
          TROUBLES,
          built('bin.js'),
          'serve',
          ...argv.map(String),
          ...common,
          ...flags,
        ],
        {
          stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
          env: { ...process.env, HOOKSWITCH_SECRET: SECRET, ...env, ...more },
        },
      )
      const started = child
      exited = once(started, 'exit')
      started.stderr?.pipe(log, { end: false })
      const lines = createInterface({ input: /** @type {import('node:stream').Readable} */ (started.stdout) })
      await Promise.race([
        once(lines, 'line'),
        exited.then((reason) => {
          throw new Error(`${name} ended with ${reason}: see ${join(folder, `${name}.log`)}`)
        }),
      ])
    },
    /** @param {NodeJS.Signals} signal */
    signal: (signal) => void child?.kill(signal),
    /** @param {import('./troubles.js').Trouble} trouble */
    makeIll: (trouble) => void child?.send(trouble, () => {}),
    end,
    async stop() {
      if (child) await end('SIGTERM')
    },
    async close() {
      if (child) await end('SIGKILL')
      log.end()
      for (const client of clients.values()) await client.close().catch(() => {})
    },
  }
}

/** @typedef {Awaited<ReturnType<typeof createNode>>} Node */

/** Receivers, each with an origin of its own. @param {number} count */
export async function startReceivers(count) {
  return Promise.all(Array.from({ length: count }, () => startReceiver()))
}

/** @typedef {Awaited<ReturnType<typeof startReceiver>>} Receiver */

async function startReceiver() {
  /** What it answers: a status, after so many ms. */
  let status = 200
  let afterMs = 0
  /** @type {Set<import('node:http').ServerResponse>} */
  const open = new Set()
  const server = createHttpServer((request, response) => {
    request.resume()
    open.add(response)
    response.once('close', () => open.delete(response))
    const answer = () => response.writeHead(status).end()
    if (afterMs === 0) answer()
    else if (afterMs < Number.POSITIVE_INFINITY) setTimeout(answer, afterMs)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${port}/`,
    /** Requests without an answer. */
    get open() {
      return open.size
    },
    /** @param {number} next @param {number} [delayMs] Infinity: never */
    answer(next, delayMs = 0) {
      status = next
      afterMs = delayMs
    },
    /** Refuses connections. */
    async refuse() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
    /** Accepts connections again. */
    async accept() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

/** An HTTP proxy that opens tunnels to this machine. */
export async function startTunnels() {
  /** @type {Set<import('node:stream').Duplex>} */
  const sockets = new Set()
  const server = createHttpServer().on('connect', ({ url = '' }, client) => {
    const upstream = connect(Number(url.split(':')[1]), '127.0.0.1')
    for (const socket of [client, upstream])
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)))
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
    client.write('HTTP/1.1 200 OK\r\n\r\n')
    client.pipe(upstream).pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  const cut = () => {
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${port}`,
    /** Ends all tunnels, and refuses connections until `accept`. */
    async refuse() {
      server.close()
      cut()
      await once(server, 'close')
    },
    async accept() {
      server.listen(port, '127.0.0.1')
      await once(server, 'listening')
    },
    close() {
      server.close()
      cut()
      server.closeAllConnections()
    },
  }
}

/**
 * Creates webhooks, spread over receivers.
 *
 * @param {Node} node
 * @param {number} count
 * @param {readonly Receiver[]} receivers
 * @param {object} [settings] of each webhook
 */
export async function createWebhooks(node, count, receivers, settings = {}) {
  for (let index = 0; index < count; index += 1) {
    const { url } = /** @type {Receiver} */ (receivers[index % receivers.length])
    await node
      .client()
      .createWebhook({ data: { name: `w${index}`, uri: `${url}${index}`, hook: 'all', ...settings } })
  }
}

let calls = 0

/** @param {Node} node @param {number} [count] events, each of another call */
export function publish(node, count = 1) {
  const data = Array.from({ length: count }, () => ({
    hook: /** @type {const} */ ('channel_create'),
    call_id: `call-${calls++}`,
  }))
  return node.client().publishEvents({ data })
}

/**
 * Publishes at a steady rate, to the nodes in turns. What is refused is not repeated: that is part of the trouble.
 *
 * @param {readonly Node[]} nodes
 * @param {number} perSecond
 */
export function startLoad(nodes, perSecond) {
  let turn = 0
  const timer = setInterval(() => {
    const node = /** @type {Node} */ (nodes[turn++ % nodes.length])
    publish(node).catch(() => {})
  }, 1000 / perSecond)
  return () => clearInterval(timer)
}
