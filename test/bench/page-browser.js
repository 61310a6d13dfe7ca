/** The page in Chromium: when its list is on the screen, how fast it filters, searches and scrolls, and how large it is. */
import { existsSync } from 'node:fs'
import { quantile, summarize } from './statistics.js'

const PATHS = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser']
const ROWS = 10_000
const FRAME_GOALS = { median: 16.7, p95: 25 }
const NODES_GOAL = 500
const PAINT_GOAL_MS = 400
const LIST_GOAL_MS = 300
const SCREEN_GOAL_MS = 100

/** Scrolls to the end again and again until the table has this many rows. */
const LOAD_ALL = `(async (rows) => {
  const rowHeight = 56
  while (document.documentElement.scrollHeight < rows * rowHeight) {
    scrollTo(0, document.documentElement.scrollHeight)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
})(${ROWS})`

/** Scrolls through all rows, 36 per frame. */
const SCROLL = `(async () => {
  const table = document.querySelector('[role="table"]')
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  scrollTo(0, 0)
  const frames = []
  let most = 0
  let previous = await frame()
  while (scrollY + innerHeight + 1 < document.documentElement.scrollHeight) {
    scrollBy(0, 2000)
    const now = await frame()
    frames.push(now - previous)
    previous = now
    most = Math.max(most, table.querySelectorAll('*').length)
  }
  return { frames, most }
})()`

const LIVE_PER_SECOND = 200
const LIVE_WATCH_MS = 10_000

/** Runs before the page: its stream is made on the page itself, so that only the page's part is measured. */
const BUSY_STREAM = `(perSecond) => {
  const { fetch } = window
  const stepMs = 50
  const attempt = (n) => ({
    id: 'attempt-' + n, account_id: 'bench', hook_id: 'hook-' + (n % 5), hook_event: 'channel_answer',
    delivery_id: 'delivery-' + n, event_id: 'event-' + n, uri: 'https://hooks.example/in', method: 'post',
    result: n % 7 ? 'success' : 'failure', resp_status_code: n % 7 ? '204' : '503', duration_ms: n % 90,
    sent_at: new Date().toISOString(), call_id: 'leg-' + n, call: { from: '+1202555' + n + '@b', to: '1001@b' },
  })
  window.fetch = (input, init) => {
    if (!String(input?.url ?? input).includes('/stream')) return fetch(input, init)
    let n = 0
    let timer
    const body = new ReadableStream({
      start(stream) {
        const text = (value) => stream.enqueue(new TextEncoder().encode(value))
        text('retry: 2000\\n\\n')
        timer = setInterval(() => {
          for (let i = 0; i < perSecond * stepMs / 1000; i += 1) {
            n += 1
            text('id: ' + n + '\\nevent: attempt\\ndata: ' + JSON.stringify(attempt(n)) + '\\n\\n')
          }
        }, stepMs)
      },
      cancel: () => clearInterval(timer),
    })
    return Promise.resolve(new Response(body, { headers: { 'content-type': 'text/event-stream' } }))
  }
}`

const FRAMES = `(async (forMs) => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const frames = []
  const started = await frame()
  let previous = started
  while (previous - started < forMs) {
    const now = await frame()
    frames.push(now - previous)
    previous = now
  }
  return frames
})(${LIVE_WATCH_MS})`

/** @returns the times between frames of the live list, ms, while many items arrive */
async function watchLive(page) {
  await page.addInitScript(`(${BUSY_STREAM})(${LIVE_PER_SECOND})`)
  await page.getByRole('link', { name: 'Live' }).click()
  await page.reload()
  await page.getByRole('row').nth(10).waitFor()
  return page.evaluate(FRAMES)
}

/** @returns {Promise<import('playwright-core').Browser | undefined>} `undefined` without Chromium */
async function launch() {
  const executablePath = PATHS.find((path) => path !== undefined && existsSync(path))
  if (executablePath === undefined) return undefined
  const { chromium } = await import('playwright-core')
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-dev-shm-usage'] })
}

/**
 * Takes the time on the page itself: from the first event of a kind until the frame that shows a text in the list. The
 * commands of the browser would be part of a time that is taken outside, and so would their rounds of waiting.
 */
const WATCH = `(type, text) => {
  let started
  addEventListener(type, ({ timeStamp }) => { started ??= timeStamp }, { capture: true })
  window.shown = new Promise((resolve) => {
    const look = () => {
      const list = document.querySelector('[role="table"]')
      if (started === undefined || !list?.textContent.includes(text)) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - started)))
    }
    const observer = new MutationObserver(look)
    observer.observe(document.body, { childList: true, subtree: true, characterData: true })
  })
}`

/** @returns the time in ms from an event of this type, which `act` causes, until the list has a text */
async function timed(page, { type, text }, act) {
  await page.evaluate(`(${WATCH})(${JSON.stringify(type)}, ${JSON.stringify(text)})`)
  await act()
  return page.evaluate('window.shown')
}

/** Runs before the page: the time from the beginning of its load until the frame that shows a text in the list. */
const WATCH_LOAD = `(text) => {
  window.listShown = new Promise((resolve) => {
    const look = () => {
      if (!document.querySelector('[role="table"]')?.textContent.includes(text)) return
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now())))
    }
    const observer = new MutationObserver(look)
    observer.observe(document, { childList: true, subtree: true, characterData: true })
  })
}`

/** Counts the requests of the API while something happens. */
async function countRequests(page, act) {
  let count = 0
  const onRequest = (request) => {
    if (request.url().includes('/v1/') || request.url().includes('/v2/')) count += 1
  }
  page.on('request', onRequest)
  const result = await act()
  page.off('request', onRequest)
  return [result, count]
}

async function measureOnce(browser, { port, apiKey }) {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 900 } })
  context.setDefaultTimeout(120_000)
  try {
    const page = await context.newPage()
    const url = `http://127.0.0.1:${port}/portal/`
    await page.goto(url)
    await page.getByRole('button', { name: 'API key', exact: true }).click()
    await page.getByLabel('API key', { exact: true }).fill(apiKey)
    await page.getByRole('button', { name: 'Sign in' }).click()
    const row = (text) => page.getByRole('row').filter({ hasText: text })
    // Failing webhooks come first, then paused ones; of a hundred webhooks one fails, and the next one is paused.
    await row('Receiver 00000').waitFor()
    // The session is in the tab: the next load is that of somebody who is signed in.
    await context.addInitScript(`(${WATCH_LOAD})('Receiver 00000')`)
    await page.reload()
    const listMs = await page.evaluate('window.listShown')
    const paintMs = await page.evaluate(
      "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN",
    )
    // The counts of the states come after the first list.
    await page.getByRole('button', { name: /^Working/ }).waitFor()
    const [filterMs, filterRequests] = await countRequests(page, () =>
      timed(page, { type: 'click', text: 'Receiver 00003' }, () =>
        page.getByRole('button', { name: /^Working/ }).click(),
      ),
    )
    await page.getByRole('button', { name: /^All/ }).click()
    await row('Receiver 00000').waitFor()
    const search = page.getByRole('searchbox', { name: 'Name or address' })
    const [searchMs, searchRequests] = await countRequests(page, () =>
      timed(page, { type: 'input', text: 'Receiver 09876' }, () => search.fill('receiver 09876')),
    )
    await search.fill('')
    await row('Receiver 00000').waitFor()
    const started = performance.now()
    await page.evaluate(LOAD_ALL)
    const loadMs = performance.now() - started
    const { frames, most } = await page.evaluate(SCROLL)
    const liveFrames = await watchLive(page)
    return {
      paintMs,
      listMs,
      filterMs,
      filterRequests,
      searchMs,
      searchRequests,
      loadMs,
      frames,
      most,
      liveFrames,
    }
  } finally {
    await context.close()
  }
}

/** @param {{ name: string, rounds: number, target: { port: number, apiKey: string }, title: string }} options */
export async function measureBrowser({ name, rounds, target, title }) {
  const browser = await launch()
  if (!browser) return [{ row: name, store: title, skipped: 'there is no Chromium' }]
  try {
    const results = []
    for (let round = 0; round < Math.min(rounds, 3); round += 1)
      results.push(await measureOnce(browser, target))
    const row = (measurement, unit, goal, select) => ({
      row: name,
      measurement: `in Chromium: ${measurement}, ${ROWS.toLocaleString('en')} webhooks, ${title}`,
      baseline: '–',
      unit,
      goal,
      ...summarize(results.map(select)),
    })
    return [
      row('first contentful paint', 'ms', PAINT_GOAL_MS, ({ paintMs }) => paintMs),
      row('list on the screen after a reload', 'ms', LIST_GOAL_MS, ({ listMs }) => listMs),
      row('the working ones of all', 'ms', SCREEN_GOAL_MS, ({ filterMs }) => filterMs),
      row('search, from the last key', 'ms', SCREEN_GOAL_MS, ({ searchMs }) => searchMs),
      row('requests of such a choice', 'requests', undefined, ({ filterRequests }) => filterRequests),
      row('requests of a search', 'requests', undefined, ({ searchRequests }) => searchRequests),
      row('all rows loaded by scrolling', 'ms', undefined, ({ loadMs }) => loadMs),
      row('scrolling, median frame', 'ms', FRAME_GOALS.median, ({ frames }) => quantile(frames, 0.5)),
      row('scrolling, p95 of frames', 'ms', FRAME_GOALS.p95, ({ frames }) => quantile(frames, 0.95)),
      row('most elements of the table', 'elements', NODES_GOAL, ({ most }) => most),
      row(`live, ${LIVE_PER_SECOND} items/s, p95 of frames`, 'ms', FRAME_GOALS.p95, ({ liveFrames }) =>
        quantile(liveFrames, 0.95),
      ),
    ]
  } finally {
    await browser.close()
  }
}
