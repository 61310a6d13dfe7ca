/** PAGE: every request of the page, and the page in Chromium, with 10,000 webhooks and 1,000,000 attempts in one store. */
import { measureBrowser } from './page-browser.js'
import { pageRequests } from './page-routes.js'
import { LARGE_HEAP, startProcess } from './processes.js'
import { quantile, repeat, summarize } from './statistics.js'

const WEBHOOKS = 10_000
const REQUESTS = 20
const GOAL_MS = 50

/** @returns a function that sends one request of the page and resolves to its response, with its duration in ms */
function clientOf({ port, token }) {
  const headers = { 'x-auth-token': token, 'content-type': 'application/json' }
  return async ({ path, method = 'GET', data }) => {
    const started = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/v2${path}`, {
      method,
      headers,
      ...(data && { body: JSON.stringify({ data }) }),
    })
    const body = await response.text()
    const ms = performance.now() - started
    return { ms, status: response.status, body }
  }
}

/** @param {{ name: string, rounds: number, pending: number, stores: import('./stores.js').Stores }} options `pending`: attempts */
export async function measurePage({ name, rounds, pending: attempts, stores }) {
  const location = stores.newLocation()
  const filler = startProcess('page-server', { nodeOptions: LARGE_HEAP })
  const ids = await filler.request('fill', { location, webhooks: WEBHOOKS, attempts }).finally(filler.stop)
  const server = startProcess('page-server')
  try {
    const target = await server.request('listen', { location })
    const options = { name, rounds, target, ids, title: stores.title, attempts }
    return [...(await measureRequests(options)), ...(await measureBrowser(options))]
  } finally {
    await server.stop()
  }
}

export async function measureRequests({ name, rounds, target, ids, title, attempts }) {
  const send = clientOf(target)
  const list = { path: `/accounts/${target.accountId}/webhooks/health?page_size=100` }
  const { next_start_key: secondPage } = JSON.parse((await send(list)).body)
  const rows = []
  for (const request of pageRequests({ ...target, ...ids }, secondPage)) {
    const { status, body } = await send(request)
    if (status >= 400 && status !== 404) throw new Error(`${request.name}: ${status} ${body}`)
    const times = await repeat(rounds, () => repeat(REQUESTS, async () => (await send(request)).ms))
    const p50 = summarize(times.map((round) => quantile(round, 0.5))).median
    rows.push({
      row: name,
      measurement: `p95 of ${request.name}, ${WEBHOOKS.toLocaleString('en')} webhooks, ${attempts.toLocaleString('en')} attempts, ${title}`,
      baseline: '–',
      unit: 'ms',
      goal: GOAL_MS,
      ...summarize(times.map((round) => quantile(round, 0.95))),
      p50,
      details: `p50 ${p50.toFixed(1)} ms, ${Math.ceil(body.length / 1024)} KiB`,
    })
  }
  return rows
}
