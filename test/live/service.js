// @ts-check
/** Runs `hookswitch serve` in a separate process, connected to a switch, and receives all its webhooks. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { waitUntil } from './wait-until.js'

/** The two tenants. */
export const ACCOUNTS = ['acme', 'globex'].map(accountOf)

/** @param {string} id */
export function accountOf(id) {
  return {
    id,
    name: id,
    realm: `${id}.example`,
    apiKey: `${id}-key-`.padEnd(40, '0'),
  }
}

/** @typedef {{ id: string, name: string, realm: string, apiKey: string }} Account */
/**
 * A received event, with the account of its webhook and the time of its arrival.
 *
 * @typedef {{ source: string, account: string, event: Record<string, any>, atMs: number }} Received
 */

/** The package as built, which the program is, too. */
export const built = (/** @type {string} */ name) => new URL(`../../dist/${name}`, import.meta.url)

/** Receives the webhooks of all services: `/SOURCE/ACCOUNT`. */
export async function startReceiver() {
  const { verify } = await import(built('index.js').href)
  /** @type {Received[]} */
  const received = []
  /** @type {string[]} */
  const problems = []
  /** @type {Map<string, string>} */
  const secrets = new Map()
  const ids = new Set()
  const server = createServer(async (request, response) => {
    const body = await text(request)
    const atMs = Date.now()
    const path = String(request.url)
    const [, source = '', account = ''] = path.split('/')
    const verified = verify({ headers: request.headers, body }, secrets.get(path) ?? '')
    const event = JSON.parse(body)
    if (!verified.ok) problems.push(`${path}: a request with a bad signature: ${verified.reason}`)
    // A repeated delivery is no second event.
    else if (!ids.has(verified.id)) {
      ids.add(verified.id)
      received.push({ source, account, event, atMs })
    }
    response.writeHead(204).end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    received,
    problems,
    secrets,
    url: `http://127.0.0.1:${port}`,
    async end() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

/**
 * @typedef {object} ServiceOptions
 * @property {string} source names the service in paths and reports
 * @property {string} folder for its data
 * @property {readonly string[]} flags that connect it to the switch
 * @property {Readonly<Record<string, string>>} env the passwords
 * @property {Awaited<ReturnType<typeof startReceiver>>} receiver
 * @property {readonly Account[]} [accounts] default: the two tenants
 * @property {readonly string[]} [nodeFlags] of Node itself. Default: none
 */
/** @typedef {Awaited<ReturnType<typeof startService>>} Service */

/** @param {ServiceOptions} options */
export async function startService({
  source,
  folder,
  flags,
  env,
  receiver,
  accounts = ACCOUNTS,
  nodeFlags = [],
}) {
  const file = join(folder, `${source}-accounts.json`)
  writeFileSync(file, JSON.stringify(accounts))
  const argv = [
    ...nodeFlags,
    ...[fileURLToPath(built('bin.js')), 'serve', '--port', '0', '--allow-local', '--log', 'json'],
    ...['--accounts', file, '--data', join(folder, `${source}.db`), ...flags],
  ]
  let log = ''
  /** @type {string[]} */
  const lines = []
  const start = async () => {
    const child = spawn(process.execPath, argv, { env: { ...process.env, ...env } })
    let output = ''
    let hasEnded = false
    const ended = once(child, 'close').then(() => {
      hasEnded = true
    })
    child.stdout.setEncoding('utf8').on('data', (chunk) => {
      output += chunk
    })
    child.stderr.setEncoding('utf8').on('data', (chunk) => {
      const parts = (log + chunk).split('\n')
      log = parts.pop() ?? ''
      lines.push(...parts)
    })
    const url = await waitUntil(`hookswitch serve (${source})`, () => {
      if (hasEnded) throw new Error(`hookswitch serve ended: ${lines.join('\n')}`)
      return output.includes('\n') ? /** @type {string} */ (JSON.parse(output).url) : undefined
    })
    return { child, ended, url }
  }
  let running = await start()
  for (const account of accounts) await register(running.url, account, source, receiver)
  const kill = async (/** @type {NodeJS.Signals} */ signal) => {
    running.child.kill(signal)
    await running.ended
  }
  return {
    source,
    /** Lines of its log. */
    lines,
    /** How often it has connected to the switch, subscribed and listed the open channels. */
    connections: () => lines.filter((line) => line.includes('"connected to the switch"')).length,
    /** Its process id, to measure it. */
    pid: () => running.child.pid,
    /** Kills it, as a power cut would. */
    kill: () => kill('SIGKILL'),
    async start() {
      running = await start()
    },
    end: () => kill('SIGTERM'),
  }
}

/**
 * @param {string} url
 * @param {Account} account
 * @param {string} source
 * @param {Awaited<ReturnType<typeof startReceiver>>} receiver
 */
async function register(url, account, source, receiver) {
  const call = async (
    /** @type {string} */ method,
    /** @type {string} */ path,
    token = '',
    /** @type {unknown} */ data = undefined,
  ) => {
    const response = await fetch(`${url}/v1${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token === '' ? {} : { 'x-auth-token': token }) },
      ...(data === undefined ? {} : { body: JSON.stringify({ data }) }),
    })
    /** @type {any} */
    const body = await response.json()
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(body)}`)
    return body
  }
  const { auth_token: token } = await call('PUT', '/api_auth', '', { api_key: account.apiKey })
  const path = `/${source}/${account.id}`
  const webhook = { name: 'live', hook: 'all', uri: `${receiver.url}${path}` }
  const webhooks = `/accounts/${account.id}/webhooks`
  const { data: created } = await call('PUT', webhooks, token, webhook)
  const { data } = await call('GET', `${webhooks}/${created.id}/secret`, token)
  receiver.secrets.set(path, data.secret)
}
