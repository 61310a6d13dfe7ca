// @ts-check
/** What the three programs share: a service with its customers, and a receiver that prints the webhooks it gets. */
import { createServer } from 'node:http'
import { createHookswitch, memoryStore } from 'hookswitch'

/**
 * A service in memory with these accounts, each with one webhook for everything.
 *
 * @param {readonly { id: string, name: string, realm: string }[]} accounts
 */
export async function startService(accounts) {
  const receiver = await startReceiver()
  const hs = createHookswitch({ store: memoryStore(), allowLocal: true })
  await hs.start()
  await hs.accounts.ensure(accounts)
  for (const { id } of accounts) {
    await hs.webhooks.create(id, {
      name: 'Everything',
      uri: receiver.url,
      hook: 'all',
      includeInternalLegs: true,
    })
  }
  // One webhook for each account: as many deliveries as events.
  let pending = 0
  hs.events.on('event', () => (pending += 1))
  hs.events.on('delivered', () => (pending -= 1))
  return {
    hs,
    /** Waits until everything that was published is delivered, ten seconds at most; then everything ends. */
    async close() {
      await until(() => pending === 0)
      await hs.close({ drainMs: 1_000 })
      await receiver.close()
      return receiver.count
    },
  }
}

/**
 * Ten seconds at most.
 *
 * @param {() => boolean} isDone
 */
async function until(isDone) {
  for (let tries = 0; tries < 1_000 && !isDone(); tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** @typedef {import('hookswitch/freeswitch').SwitchSource} SwitchSource */

/**
 * Says what a source says, starts it, and ends it with the program's signal or the promise.
 *
 * @param {SwitchSource} source
 * @param {Awaited<ReturnType<typeof startService>>} service
 * @param {Promise<unknown>} over the end of the recording; never, for a real switch
 */
export async function runUntil(source, service, over) {
  source.events.on('connected', ({ peer }) => console.log(`connected to ${peer}`))
  source.events.on('disconnected', ({ reason, retryInMs }) =>
    console.log(`not connected: ${reason}; again in ${retryInMs} ms`),
  )
  source.events.on('account_unknown', ({ callId, drafts }) =>
    console.log(`no account for ${callId}: ${drafts.length} events are not published`),
  )
  source.events.on('problem', ({ message }) => console.log(`could not be used: ${message}`))
  source.events.on('rejected', ({ event, error }) => console.log(`refused: ${event.callId} ${error}`))
  source.start()

  // What the fake said last is still on its way when it has said it.
  const ended = () => until(() => source.status().published > 0 && source.status().openLegs === 0)
  await Promise.race([over.then(ended), new Promise((resolve) => process.once('SIGINT', resolve))])
  await source.close()
  const { published, openLegs } = source.status()
  const received = await service.close()
  console.log(
    `${published} events published, ${received.requests} webhooks received: ${inWords(received.hooks)}`,
  )
  console.log(openLegs === 0 ? 'no leg is open' : `${openLegs} legs are open`)
}

async function startReceiver() {
  /** @type {{ requests: number, hooks: Record<string, number> }} */
  const count = { requests: 0, hooks: {} }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    response.writeHead(204).end()
    const event = JSON.parse(body)
    count.requests += 1
    const hook = String(event.hook_event)
    count.hooks[hook] = (count.hooks[hook] ?? 0) + 1
    const who = `${event.caller_id_number ?? '?'} → ${event.callee_id_number ?? event.request ?? '?'}`
    const why = event.hangup_cause ? ` ${event.hangup_cause}, ${event.billing_seconds} s` : ''
    console.log(`${event.account_id} ${event.hook_event} ${who}${why} (${event.call_id})`)
  })
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const address = /** @type {import('node:net').AddressInfo} */ (server.address())
  return {
    url: `http://127.0.0.1:${address.port}/`,
    count,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** @param {Record<string, number>} hooks */
function inWords(hooks) {
  return Object.entries(hooks)
    .sort()
    .map(([hook, number]) => `${number} ${hook}`)
    .join(', ')
}
