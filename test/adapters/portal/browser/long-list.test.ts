import { describe, expect } from 'vitest'
import { CHROMIUM, logIn } from './browser.js'
import { pageTest as it } from './page-test.js'

const ROWS = 100_000
const MAX_NODES = 500

interface Scrolling {
  /** Durations in milliseconds. */
  readonly frames: number[]
  /** Most elements that the table had. */
  readonly most: number
  /** Position of the last row at the end. */
  readonly last: string
}

/** Scrolls 45 rows per frame for 120 frames, and to the end. */
const SCROLL = `(async () => {
  const table = document.querySelector('[role="table"]')
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  const frames = []
  let most = 0
  let previous = await frame()
  for (let step = 0; step < 120; step += 1) {
    scrollBy(0, 2000)
    const now = await frame()
    frames.push(now - previous)
    previous = now
    most = Math.max(most, table.querySelectorAll('*').length)
  }
  scrollTo(0, document.documentElement.scrollHeight)
  await frame()
  await frame()
  const rows = table.querySelectorAll('tr[aria-rowindex]')
  return { frames, most, last: rows[rows.length - 1].getAttribute('aria-rowindex') }
})()`

const at = (inMs: number) => new Date(Date.now() + inMs).toISOString()

/** A row of the list of webhooks with everything that one may have. */
const failing = (index: number) => ({
  id: `w${index}`,
  name: `Receiver ${index}`,
  uri: 'https://crm.example/in',
  state: 'failing',
  failures_in_row: 3,
  failing_since: at(-60_000),
  paused_until: at(60_000),
  pending: 0,
  pending_capped: false,
  last: { sent_at: at(-1_000), result: 'failure', resp_status_code: '503' },
  spark: { ok: [3, 0, 0], failed: [1, 2, 0] },
})

describe.skipIf(CHROMIUM === undefined)('a list of webhooks that all fail', () => {
  it('has at most 500 elements in the document', async ({ world, page, answer }) => {
    await answer(
      '**/webhooks/health?*',
      Array.from({ length: 200 }, (_, index) => failing(index)),
    )
    await logIn(page, world.url, world.apiKey)
    await page.getByRole('row').filter({ hasText: 'Receiver 0' }).first().waitFor()
    await page.getByRole('button', { name: 'Test now' }).first().waitFor()
    await page.mouse.wheel(0, 3_000)
    await page.getByRole('row').filter({ hasText: 'Receiver 50' }).first().waitFor()
    const count = await page.evaluate<number>(`document.querySelectorAll('[role="table"] *').length`)
    // Enough rows for the window.
    expect(await page.locator('tbody tr[data-index]').count()).toBeGreaterThan(16)
    expect(count).toBeLessThanOrEqual(MAX_NODES)
  })
})

describe.skipIf(CHROMIUM === undefined)('a list of 100,000 rows', () => {
  it('has at most 500 elements in the document wherever it is scrolled', async ({ world, page, open }) => {
    await logIn(page, world.url, world.apiKey)
    const paint = await page.evaluate<number>(
      "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN",
    )
    // One page with all rows: the service itself gives at most 1,000.
    await page.route('**/attempts?*', (route) => {
      const data = Array.from({ length: ROWS }, (_, index) => ({
        id: String(index),
        hook_id: world.badId,
        hook_event: 'channel_create',
        event_id: 'e',
        delivery_id: `d${index}`,
        uri: 'http://x/',
        method: 'post',
        attempt: 1,
        retries_left: 0,
        retries: 1,
        result: index % 3 === 0 ? 'failure' : 'success',
        resp_status_code: '204',
        duration_ms: index % 100,
        timestamp: 63_937_000_000,
        sent_at: '2026-01-31T02:31:07.412Z',
        call_id: `leg-${index}`,
      }))
      return route.fulfill({ json: { data, status: 'success', page_size: ROWS } })
    })
    await open(`webhooks/${world.badId}/activity?view=requests`)
    await page.getByText('100,000 requests.').waitFor()
    const table = page.getByRole('table')
    expect(await table.getAttribute('aria-rowcount')).toBe(String(ROWS + 1))
    const { frames, most, last } = await page.evaluate<Scrolling>(SCROLL)
    frames.sort((left, right) => left - right)
    const at = (part: number) => frames[Math.floor(frames.length * part)]!.toFixed(1)
    // Figures, not limits: they are those of a machine that does other things too.
    console.log(
      `first contentful paint ${paint.toFixed(0)} ms; ${ROWS} rows: median frame ${at(0.5)} ms, p95 ${at(0.95)} ms, ${most} elements`,
    )
    expect(most).toBeLessThanOrEqual(MAX_NODES)
    expect(last).toBe(String(ROWS + 1))
  })
})
