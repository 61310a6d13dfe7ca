// @ts-check
/** Shared by the three programs: a service with accounts, and a receiver that prints the webhooks it gets. */
import { createServer } from 'node:http'
import { createHookswitch, memoryStore } from 'hookswitch'

/**
 * Starts a service in memory with these accounts, each with one webhook for all events.
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
  // One webhook per account, so each event causes one delivery.
  let pending = 0
  hs.events.on('event', () => (pending += 1))
  hs.events.on('delivered', () => (pending -= 1))
  return {
    hs,
    /** Waits up to ten seconds until all events are delivered, then closes service and receiver. */
    async close() {
      await until(() => pending === 0)
      await hs.close({ drainMs: 1_000 })
      await receiver.close()
      return receiver.count
    },
  }
}

/**
 * Waits at most ten seconds.
 *
 * @param {() => boolean} isDone
 */
async function until(isDone) {
  for (let polls = 0; polls < 1_000 && !isDone(); polls += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** @typedef {import('hookswitch/freeswitch').SwitchSource} SwitchSource */

/**
 * Starts a source, prints its events, and closes it on SIGINT or after the promise.
 *
 * @param {SwitchSource} source
 * @param {Awaited<ReturnType<typeof startService>>} service
 * @param {Promise<unknown>} played resolves at the end of the recording, never for a real switch
 */
export async function runUntil(source, service, played) {
  source.events.on('connected', ({ peer }) => console.log(`connected to ${peer}`))
  source.events.on('disconnected', ({ reason, retryInMs }) =>
    console.log(`not connected: ${reason}; again in ${retryInMs} ms`),
  )
  source.events.on('account_unknown', ({ callId, events }) =>
    console.log(`no account for ${callId}: ${events.length} events are not published`),
  )
  source.events.on('problem', ({ message }) => console.log(`problem: ${message}`))
  source.events.on('rejected', ({ event, error }) => console.log(`rejected: ${event.callId} ${error}`))
  source.start()

  // The last events of the fake switch are still in transit when it has played the recording.
  const hasPublished = () => until(() => source.status().published > 0 && source.status().openLegs === 0)
  await Promise.race([played.then(hasPublished), new Promise((resolve) => process.once('SIGINT', resolve))])
  await source.close()
  const { published, openLegs } = source.status()
  const received = await service.close()
  console.log(
    `${published} events published, ${received.requests} webhooks received: ${summarize(received.hooks)}`,
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
    const parties = `${event.caller_id_number ?? '?'} → ${event.callee_id_number ?? event.request ?? '?'}`
    const cause = event.hangup_cause ? ` ${event.hangup_cause}, ${event.billing_seconds} s` : ''
    console.log(`${event.account_id} ${event.hook_event} ${parties}${cause} (${event.call_id})`)
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
function summarize(hooks) {
  return Object.entries(hooks)
    .sort()
    .map(([hook, number]) => `${number} ${hook}`)
    .join(', ')
}
