/** Clients of a service: they publish at a steady rate or as fast as they are answered, and read lists. */
import { handleRequests, sharedMicros, sleep } from '../processes.js'

let sent = 0

const eventOf = (hook, vars) => ({
  hook,
  call_id: `call-${sent++}@pbx.example.com`,
  call_direction: 'inbound',
  from: '+4930123456789@sip.example.com',
  to: '+4930987654321@sip.example.com',
  ...(vars && { custom_channel_vars: vars }),
})

/** Sends a request, reads its response, and counts its status; `failed`: there was none. */
async function send(url, { token, data, signal, counts }) {
  try {
    const response = await fetch(url, {
      ...(data && { method: 'PUT', body: JSON.stringify({ data }) }),
      headers: { 'x-auth-token': token, 'content-type': 'application/json' },
      signal,
    })
    for await (const chunk of response.body) counts.bytes += chunk.length
    counts[response.status] = (counts[response.status] ?? 0) + 1
  } catch {
    if (!signal.aborted) counts.failed = (counts.failed ?? 0) + 1
  }
}

const eventsUrl = (port, account) => `http://127.0.0.1:${port}/v2/accounts/${account}/events`

/** Calls `act` with 0, 1, … at a steady rate until a time. Catches up if it is late. */
async function actSteadily(perSecond, until, act) {
  const started = sharedMicros()
  let done = 0
  for (let now = started; now < until; now = sharedMicros()) {
    const due = Math.floor(((now - started) / 1e6) * perSecond)
    for (; done < due; done += 1) act(done)
    await sleep(1)
  }
  return done
}

/**
 * @typedef {{ account: string, token: string }} Target
 */
handleRequests({
  /**
   * Publishes one event after the other to the accounts in turn, with the time in it, whether or not earlier ones are answered.
   *
   * @param {{ port: number, targets: readonly Target[], hook: string, perSecond: number, ms: number }} input
   */
  async publishSteadily({ port, targets, hook, perSecond, ms, waitMs }) {
    const counts = { bytes: 0 }
    const from = sharedMicros()
    const to = from + ms * 1_000
    const signal = AbortSignal.timeout(ms + waitMs)
    const open = new Set()
    let events = 0
    await actSteadily(perSecond, to, (count) => {
      const { account, token } = targets[count % targets.length]
      const micros = sharedMicros()
      if (micros < to) events += 1
      const data = eventOf(hook, { published_us: String(micros) })
      const request = send(eventsUrl(port, account), { token, data, signal, counts })
      open.add(request)
      request.then(() => open.delete(request))
    })
    await Promise.all(open)
    return { from, to, events, counts }
  },
  /**
   * Does several things at once for a time.
   *
   * @param {{ port: number, ms: number, publishing: readonly { targets: readonly Target[], hook: string, perRequest: number,
   *   perSecond?: number, connections: number }[], reading: readonly { target: Target, paths: readonly string[],
   *   connections: number }[] }} input `perSecond`: requests at most, of all connections
   */
  async run({ port, ms, publishing, reading }) {
    const until = performance.now() + ms
    const signal = AbortSignal.timeout(ms)
    const repeat = (connections, work) =>
      Promise.all(
        Array.from({ length: connections }, async (_, connection) => {
          for (let count = connection; performance.now() < until; count += connections) await work(count)
        }),
      )
    const published = { bytes: 0 }
    const read = { bytes: 0 }
    await Promise.all([
      ...publishing.map(({ targets, hook, perRequest, perSecond, connections }) => {
        const started = performance.now()
        return repeat(connections, async (count) => {
          if (perSecond !== undefined) await sleep(started + (count * 1_000) / perSecond - performance.now())
          const { account, token } = targets[count % targets.length]
          const data = Array.from({ length: perRequest }, () => eventOf(hook))
          await send(eventsUrl(port, account), { token, data, signal, counts: published })
        })
      }),
      ...reading.map(({ target: { account, token }, paths, connections }) =>
        repeat(connections, (count) =>
          send(`http://127.0.0.1:${port}/v2/accounts/${account}${paths[count % paths.length]}`, {
            token,
            signal,
            counts: read,
          }),
        ),
      ),
    ])
    return { published, read }
  },
})
