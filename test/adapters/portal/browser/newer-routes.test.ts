/** Screens of routes that count over time or need a long wait: their answers are given here, in the form of the API. */
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { CHROMIUM, launch, logIn, newPage, type Reports, violations } from './browser.js'
import { startWorld, type World } from './world.js'

const HOUR_MS = 3_600_000
const GREGORIAN_EPOCH = 62_167_219_200

describe.skipIf(CHROMIUM === undefined)('the screens with answers of the test', () => {
  let world: World
  let browser: Browser
  let page: Page
  let context: BrowserContext
  let reports: Reports
  beforeAll(async () => {
    world = await startWorld()
    browser = await launch()
  })
  afterAll(async () => {
    await browser?.close()
    await world?.close()
  })
  beforeEach(async () => {
    const opened = await newPage(browser)
    page = opened.page
    context = opened.context
    reports = opened.reports
  })
  afterEach(async () => {
    await context.close()
    expect(reports.problems).toEqual([])
  })

  const answer = (path: string, data: unknown) =>
    page.route(path, (route) => route.fulfill({ json: { data, status: 'success' } }))
  const features = () =>
    page.route('**/openapi.json', (route) =>
      route.fulfill({
        json: { paths: { '/accounts/{account_id}/webhooks/{webhook_id}/resume': {} }, has: 'dry_run' },
      }),
    )

  it('plot success rate and latency, with the numbers as tables and the causes', async () => {
    const now = Math.floor(Date.now() / HOUR_MS) * 3_600 + GREGORIAN_EPOCH
    const slots = Array.from({ length: 24 }, (_, index) => index)
    await answer('**/stats?*', {
      step: 3_600,
      start: slots.map((slot) => now - (23 - slot) * 3_600),
      ok: slots.map((slot) => (slot === 5 ? 0 : 90)),
      failed: slots.map((slot) => (slot === 5 ? 0 : slot)),
      outcomes: { http_5xx: slots, timeout: slots.map(() => 1) },
      latency_ms: {
        p50: slots.map((slot) => (slot === 5 ? null : 20)),
        p95: slots.map((slot) => (slot === 5 ? null : 200)),
        p99: slots.map((slot) => (slot === 5 ? null : 900)),
      },
    })
    await logIn(page, world.url, world.apiKey)
    await page.goto(`${world.url}#/acme/webhooks/${world.badId}/health`)
    await page.getByRole('img', { name: 'Success rate' }).waitFor()
    await page.getByRole('row', { name: /response 5xx 276/ }).waitFor()
    const line = await page.locator('.lines .line').first().getAttribute('d')
    // One line before the hour without attempts and one after it.
    expect(line!.match(/M/g)).toHaveLength(2)
    await page.getByText('Response time as a table').click()
    const table = page.getByRole('region', { name: 'Response time' }).getByRole('table')
    expect(await table.getByRole('row').count()).toBe(24)
    await page.getByRole('img', { name: 'Response time' }).hover()
    await page.getByText('≈ p95 200 ms').waitFor()
    expect(await violations(page)).toEqual([])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await violations(page)).toEqual([])
  })

  it('show a pause, when it ends, and end it now', async () => {
    await features()
    const paused = {
      id: world.badId,
      name: 'CRM',
      uri: 'https://crm.example/in',
      state: 'paused',
      failures_in_row: 12,
      paused_until: new Date(Date.now() + 240_500).toISOString(),
      pending: 1_000,
      pending_capped: true,
      last: { sent_at: new Date().toISOString(), result: 'failure', resp_status_code: '503' },
      spark: { ok: [3, 0], failed: [1, 2] },
    }
    await answer('**/webhooks/health?*', [paused])
    await answer('**/resume', {})
    await logIn(page, world.url, world.apiKey)
    const row = page.getByRole('row').filter({ hasText: 'CRM' })
    await row.getByText('in 4 min.').or(row.getByText('in 3 min.')).waitFor()
    await row.getByText('1,000+').waitFor()
    await row.getByText('50 %').waitFor()
    await row.getByRole('img', { name: '3 successful and 3 failed attempts in 24 hours' }).waitFor()
    const resumed = page.waitForRequest((request) => request.url().endsWith('/resume'))
    await row.getByRole('button', { name: 'Resume now' }).click()
    expect((await resumed).method()).toBe('PUT')
    await page.getByText('The pause is over.').waitFor()
    expect(await violations(page)).toEqual([])
  })

  it('count what a replay would send, and replay until nothing is left', async () => {
    await features()
    const bodies: { readonly data: Readonly<Record<string, unknown>> }[] = []
    await page.route('**/replay', (route) => {
      const body = route.request().postDataJSON()
      bodies.push(body)
      const data = body.data.dry_run
        ? { count: 1_500, capped: false }
        : body.data.created_from === 'later'
          ? { delivery_ids: ['c'], more: false }
          : { delivery_ids: ['a', 'b'], more: true, next_from: 'later' }
      return route.fulfill({ status: body.data.dry_run ? 200 : 202, json: { data, status: 'success' } })
    })
    await logIn(page, world.url, world.apiKey)
    await page.goto(`${world.url}#/acme/webhooks/${world.badId}/attempts`)
    await page.getByRole('button', { name: 'Replay failed…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay' })
    // Nothing is replayed before the count is shown.
    await dialog.getByRole('button', { name: 'Count' }).click()
    await dialog.getByText('1,500 deliveries would be sent again.').waitFor()
    expect(bodies.map(({ data }) => data.dry_run)).toEqual([true, true])
    await dialog.getByRole('button', { name: 'Replay' }).click()
    await page.getByText('3 deliveries are sent again.').waitFor()
    expect(bodies.slice(2).map(({ data }) => data.created_from === 'later')).toEqual([false, true])
    expect(bodies[2]!.data).toMatchObject({ result: 'failure' })
  })

  it('show operators the state of the service', async () => {
    await answer('**/system/overview', {
      pending: 18_204,
      oldest_due_seconds: 41.2,
      in_flight: 310,
      paused: { waiting: 12, probing: 3 },
      disabled: 9,
      disabled_capped: false,
      attempts_per_minute: Array.from({ length: 60 }, (_, minute) => minute),
      nodes: [
        { node: 'n-3f', alive_until: new Date(Date.now() + 24_000).toISOString(), shards: 32, leaving: 1 },
      ],
      store: { durable: true, shared: true },
      version: '0.2.0',
    })
    await logIn(page, world.url, world.apiKey)
    await page.getByRole('link', { name: 'Operator' }).click()
    await page.getByText('18,204').waitFor()
    await page.getByText('! 41.2 s').waitFor()
    await page.getByText('12 waiting, 3 tried now').waitFor()
    await page.getByText('32 shards').waitFor()
    await page.getByText('store shared between nodes · 0.2.0').waitFor()
    expect(await violations(page)).toEqual([])
  })

  it('follow the stream, each item once, and go on after a lost connection', async () => {
    const requests: (string | undefined)[] = []
    const item = (id: string, result: string) =>
      `id: p${id}\nevent: attempt\ndata: ${JSON.stringify({
        id,
        account_id: 'acme',
        hook_id: world.badId,
        hook_event: 'channel_create',
        delivery_id: 'd',
        event_id: 'e',
        uri: 'https://crm.example/in',
        method: 'post',
        result,
        sent_at: new Date().toISOString(),
        call_id: `leg-${id}`,
      })}\n\n`
    // The list reads a stream too.
    await logIn(page, world.url, world.apiKey)
    await page.route('**/stream', (route) => {
      requests.push(route.request().headers()['last-event-id'])
      const first = `retry: 50\n\n${item('1', 'success')}${item('2', 'failure')}`
      const rest = `${item('2', 'failure')}${item('3', 'success')}`
      const body = requests.length === 1 ? first : requests.length === 2 ? rest : ': beat\n\n'
      return route.fulfill({ contentType: 'text/event-stream', body })
    })
    await page.goto(`${world.url}#/acme/live`)
    await page.getByText('3 loaded').waitFor()
    expect(requests.slice(0, 2)).toEqual([undefined, 'p2'])
    const calls = await page.getByRole('row').filter({ hasText: 'leg-' }).allInnerTexts()
    expect(calls.map((text) => /leg-\d/.exec(text)![0])).toEqual(['leg-3', 'leg-2', 'leg-1'])
    expect(await violations(page)).toEqual([])
  })
})
