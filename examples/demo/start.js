// @ts-check
/** The demo: the service, three customers, a receiver, and calls that were recorded from a real SIP proxy. */
import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { serve } from 'hookswitch/cli'
import { ensureWebhook, logIn } from './api.js'
import { HELP, parseFlags } from './flags.js'
import { hints } from './hints.js'
import { startReceiver } from './receiver.js'
import { recordedEvents, replay, until } from './replay.js'
import { haveEnded, watch } from './watch.js'

/** Quiet between two rounds, for reading and for trying things out. */
const PAUSE_MS = 20_000
/** How long the end of a round waits for the last deliveries; a webhook of yours may lead to nobody. */
const PATIENCE_MS = 3_000

const ACCOUNTS = new URL('accounts.json', import.meta.url)
const show = (/** @type {string} */ line) => process.stdout.write(`${line}\n`)

/** @param {import('./flags.js').DemoFlags} flags */
async function demo(flags) {
  // The same one each time: webhooks that somebody registered for it are still there in the next run.
  const receiver = await startReceiver(flags.port === 0 ? 0 : flags.port + 1, flags.receiverLog)
  try {
    const argv = ['--allow-local', '--accounts', fileURLToPath(ACCOUNTS), '--log', 'json']
    const own = ['--data', flags.data, '--port', String(flags.port)]
    const service = await serve([...argv, ...own], quietIo())
    const log = watch(service.hs, show)
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
 * Rounds of calls until somebody ends the demo; with `--once` one round and all of its deliveries.
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
  const accounts = await accountsNow(hs)
  const ids = accounts.map((/** @type {{ id: string }} */ { id }) => id)
  await registerWebhooks(url, receiverUrl, accounts)
  const recorded = await recordedEvents({ 'alpha.example': 'alpha', 'beta.example': 'beta' })
  // After one round there is nobody left who would answer.
  const help = once ? '' : `\n${hints(url, receiverUrl, accounts[1])}`
  show(`The API is at ${url}/v1, the receiver at ${receiverUrl}.
Everything is kept in ${data} and goes on at the next start; delete ${data}* to begin anew.
${help}`)

  const run = randomBytes(3).toString('hex')
  for (let round = 1; !signal.aborted; round += 1) {
    const { calls, events } = await replay(hs, recorded, { speed, suffix: `~${run}-${round}`, signal })
    if (once) return haveEnded(hs, ids, signal)
    await haveEnded(hs, ids, AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)]))
    if (signal.aborted) return
    show(
      `\nRound ${round} is over: ${calls} calls, ${events} events; so far ${summary()}. Ctrl-C ends the demo.`,
    )
    show(help)
    await until(Date.now() + PAUSE_MS, signal)
  }
}

/**
 * The accounts of the demo with the API keys that they have by now: somebody may have asked for a new one.
 *
 * @param {import('hookswitch').Hookswitch} hs
 * @returns {Promise<any[]>}
 */
async function accountsNow(hs) {
  const accounts = JSON.parse(await readFile(ACCOUNTS, 'utf8'))
  for (const account of accounts) account.apiKey = await hs.accounts.readApiKey(account.id)
  return accounts
}

/**
 * What three customers would do: log in with their API key and register a webhook, if they have not yet. Alpha's
 * receiver is fine, Beta's has trouble at first, and the reseller wants the end of every call below it.
 *
 * @param {string} url of the service
 * @param {string} receiverUrl
 * @param {{ id: string, apiKey: string }[]} accounts
 */
async function registerWebhooks(url, receiverUrl, accounts) {
  /** @type {Record<string, import('./api.js').Webhook>} */
  const wishes = {
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
    const wish = wishes[id]
    if (wish) await ensureWebhook(url, token, id, { ...wish, http_verb: 'post', retries: 3 })
  }
}

/** The service's own output: only what went wrong; the demo shows the rest in its own way. */
function quietIo() {
  const write = (/** @type {string} */ line) => {
    const { level, message } = JSON.parse(line)
    if (level === 'error') process.stderr.write(`${message}\n`)
  }
  return { stdout: { write: () => true }, stderr: { write }, env: process.env }
}

// Whoever reads may have seen enough: `npm start | head`.
process.stdout.on('error', ({ code }) => process.exit(code === 'EPIPE' ? 0 : 1))

try {
  const flags = parseFlags(process.argv.slice(2))
  if (flags === 'help') process.stdout.write(HELP)
  else await demo(flags)
} catch (thrown) {
  process.stderr.write(`${thrown instanceof Error ? thrown.message : thrown}\n`)
  process.exitCode = 1
}
