// @ts-check
/** Shared by the three programs: a service with accounts, a receiver that prints the webhooks it gets, and a run. */
import { createServer } from 'node:http'
import { createHookswitch, memoryStore } from 'hookswitch'

/** The events that end a delivery. */
const ENDS = /** @type {const} */ (['delivered', 'exhausted', 'expired', 'cancelled', 'quarantined'])

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
  let onIdle = () => {}
  const settled = () => {
    pending -= 1
    if (pending === 0) onIdle()
  }
  hs.events.on('event', () => (pending += 1))
  for (const end of ENDS) hs.events.on(end, settled)
  return {
    hs,
    /** Waits until every delivery has ended, then closes service and receiver. */
    async close() {
      if (pending > 0) await new Promise((resolve) => (onIdle = () => resolve(undefined)))
      await hs.close({ drainMs: 1_000 })
      await receiver.close()
      return receiver.count
    },
  }
}

/** @typedef {import('hookswitch/freeswitch').SwitchSource} SwitchSource */
/** @typedef {import('hookswitch/testkit').FakeSwitch} FakeSwitch */

/**
 * Starts a source and prints its events; closes it on SIGINT, or when it has read the whole recording of a fake switch.
 *
 * @param {SwitchSource} source
 * @param {Awaited<ReturnType<typeof startService>>} service
 * @param {FakeSwitch | undefined} fake `undefined`: the switch is a real one
 * @param {number} speed factor of the recorded pace
 */
export async function runUntil(source, service, fake, speed) {
  const connected = new Promise((resolve) => source.events.once('connected', resolve))
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

  const interrupted = new Promise((resolve) => process.once('SIGINT', resolve))
  await Promise.race([interrupted, fake ? playToTheEnd(fake, speed, connected) : new Promise(() => {})])
  // However long a busy machine takes: every event that was read is published.
  await source.close({ drainMs: 600_000 })
  await fake?.close()
  const { published, openLegs } = source.status()
  const received = await service.close()
  console.log(
    `${published} events published, ${received.webhooks} webhooks received: ${summarize(received.hooks)}`,
  )
  console.log(openLegs === 0 ? 'no leg is open' : `${openLegs} legs are open`)
}

/**
 * Plays the recording, and waits until the source has read it all: the last events are still in transit when they are
 * played, and a moment without open legs may be one between two calls.
 *
 * @param {FakeSwitch} fake
 * @param {number} speed
 * @param {Promise<unknown>} connected
 */
async function playToTheEnd(fake, speed, connected) {
  await Promise.all([connected, fake.waitFor('subscribed')])
  await fake.play({ speed })
  await fake.end()
}

async function startReceiver() {
  /** @type {{ webhooks: number, hooks: Record<string, number> }} */
  const count = { webhooks: 0, hooks: {} }
  const ids = new Set()
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    response.writeHead(204).end()
    const event = JSON.parse(body)
    // A webhook may come again: as a replay, or if this process was so slow that the first request timed out.
    const id = `${request.headers['x-hook-id']} ${event.event_id}`
    if (ids.has(id)) return
    ids.add(id)
    count.webhooks += 1
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
