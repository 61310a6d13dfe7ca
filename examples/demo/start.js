// @ts-check
/**
 * The demo: the service, three customers, a receiver, and calls recorded from a real SIP proxy.
 * Run it with `npm start`; flags follow `--` (`npm start -- --help`).
 */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { serve } from 'hookswitch/cli'
import { ensureWebhook, logIn } from './api.js'
import { HELP, parseFlags } from './flags.js'
import { startReceiver } from './receiver.js'
import { recordedEvents, replay, until } from './replay.js'
import { haveEnded, watch } from './watch.js'

/** Pause between two rounds. */
const PAUSE_MS = 20_000
/** Lines after which the address and the login are shown again, so that they stay on the screen. */
const LINES = 20
/** Longest wait for the last deliveries of a round; the receiver of a user's webhook may never respond. */
const DELIVERY_WAIT_MS = 3_000

/** A user of accounts.json, of the account whose receiver fails at first. */
const LOGIN = { realm: 'beta.example', username: 'bob', password: 'builder' }
const ACCOUNTS = new URL('accounts.json', import.meta.url)
const show = (/** @type {string} */ line) => process.stdout.write(`${line}\n`)

/** @param {import('./flags.js').DemoFlags} flags */
async function demo(flags) {
  // The same port in each run, because the webhooks registered for it remain in the file.
  const receiver = await startReceiver(flags.port === 0 ? 0 : flags.port + 1, flags.receiverLog)
  try {
    const argv = ['--allow-local', '--accounts', fileURLToPath(ACCOUNTS), '--log', 'json']
    const fromFlags = ['--data', flags.data, '--port', String(flags.port)]
    const service = await serve([...argv, ...fromFlags], quietIo())
    let lines = 0
    const log = watch(service.hs, (line) => {
      show(line)
      lines += 1
      if (!flags.once && lines % LINES === 0) show(reminder(service.url))
    })
    try {
      await rounds(flags, service, receiver.url, log.summary)
    } finally {
      await service.close()
    }
    show(`\n${log.summary()}`)
  } finally {
    await receiver.close()
  }
}

/**
 * Plays rounds of calls until a signal; with `--once` one round and all of its deliveries.
 *
 * @param {import('./flags.js').DemoFlags} flags
 * @param {{ hs: import('hookswitch').Hookswitch, url: string }} service
 * @param {string} receiverUrl
 * @param {() => string} summary
 */
async function rounds({ once, speed, data }, { hs, url }, receiverUrl, summary) {
  const stop = new AbortController()
  const { signal } = stop
  for (const name of ['SIGINT', 'SIGTERM']) {
    process.on(name, () => (signal.aborted ? process.exit(1) : stop.abort()))
  }
  const accounts = await currentAccounts(hs)
  const ids = accounts.map((/** @type {{ id: string }} */ { id }) => id)
  await registerWebhooks(url, receiverUrl, accounts)
  const recorded = await recordedEvents({ 'alpha.example': 'alpha', 'beta.example': 'beta' })
  // With `--once` the service ends too soon for a browser.
  if (!once) show(welcome(url, receiverUrl, data))

  const run = randomBytes(3).toString('hex')
  for (let round = 1; !signal.aborted; round += 1) {
    const { calls, events } = await replay(hs, recorded, { speed, suffix: `~${run}-${round}`, signal })
    if (once) return haveEnded(hs, ids, signal)
    await haveEnded(hs, ids, AbortSignal.any([signal, AbortSignal.timeout(DELIVERY_WAIT_MS)]))
    if (signal.aborted) return
    show(
      `\nRound ${round} has ended: ${calls} calls, ${events} events; in total ${summary()}.\n${reminder(url)}`,
    )
    await until(Date.now() + PAUSE_MS, signal)
  }
}

/**
 * What is where, and a login.
 *
 * @param {string} url URL of the service
 * @param {string} receiverUrl
 * @param {string} data path of the SQLite file
 */
const welcome = (url, receiverUrl, data) => `
The page for customers: ${url}/portal

  Company    ${LOGIN.realm}
  User name  ${LOGIN.username}
  Password   ${LOGIN.password}

The API is at ${url}/v1, the receiver at ${receiverUrl}; examples/demo/README.md has commands to paste.
Data is stored in ${data}, and the next start continues from there. Ctrl-C ends the demo.

One line per call, when its end was delivered; Beta's receiver fails at first:
`

/** @param {string} url URL of the service */
const reminder = (url) =>
  `── each request: ${url}/portal (${LOGIN.realm}, ${LOGIN.username}, ${LOGIN.password}) ── Ctrl-C ends the demo ──`

/**
 * Returns the accounts of the demo with their current API keys, which a user may have replaced.
 *
 * @param {import('hookswitch').Hookswitch} hs
 * @returns {Promise<any[]>}
 */
async function currentAccounts(hs) {
  const accounts = JSON.parse(await readFile(ACCOUNTS, 'utf8'))
  for (const account of accounts) account.apiKey = await hs.accounts.readApiKey(account.id)
  return accounts
}

/**
 * Logs in as three customers and registers a webhook for each. Alpha's receiver works, Beta's fails at first, and the
 * reseller's gets the end of every call of its subaccounts.
 *
 * @param {string} url URL of the service
 * @param {string} receiverUrl
 * @param {{ id: string, apiKey: string }[]} accounts
 */
async function registerWebhooks(url, receiverUrl, accounts) {
  /** @type {Record<string, import('./api.js').Webhook>} */
  const webhooks = {
    alpha: { name: 'Calls of Alpha', uri: `${receiverUrl}/steady`, hook: 'all' },
    beta: { name: 'Calls of Beta', uri: `${receiverUrl}/unsteady`, hook: 'all' },
    reseller: {
      name: 'Call records of all customers',
      uri: `${receiverUrl}/records`,
      hook: 'channel_destroy',
      include_subaccounts: true,
    },
  }
  for (const { id, apiKey } of accounts) {
    const token = await logIn(url, apiKey)
    const webhook = webhooks[id]
    if (webhook) await ensureWebhook(url, token, id, { ...webhook, http_verb: 'post', retries: 3 })
  }
}

/** Streams for the service: prints only the messages of errors, because the demo has its own output. */
function quietIo() {
  const write = (/** @type {string} */ line) => {
    const { level, message } = JSON.parse(line)
    if (level === 'error') process.stderr.write(`${message}\n`)
  }
  return { stdout: { write: () => true }, stderr: { write }, env: process.env }
}

// A closed pipe ends the demo: `npm start | head`.
process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? 0 : 1))

try {
  const flags = parseFlags(process.argv.slice(2))
  if (flags === 'help') process.stdout.write(HELP)
  else await demo(flags)
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : thrown}\n`)
  process.exitCode = 1
}
