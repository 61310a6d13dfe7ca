/** Screens of routes that count over time or need a long wait: their answers are given here, in the form of the API. */
import type { Page } from 'playwright-core'
import { describe, expect } from 'vitest'
import { CHROMIUM, logIn, violations } from './browser.js'
import { pageTest as it } from './page-test.js'

const GREGORIAN_EPOCH = 62_167_219_200

describe.skipIf(CHROMIUM === undefined)('the screens with answers of the test', () => {
  const job = {
    id: 'f'.repeat(32),
    account_id: 'acme',
    state: 'running',
    count: 1_500,
    replayed: 0,
    created_at: new Date().toISOString(),
    result: 'failure',
    include_recovered: false,
    left_out: [] as object[],
    automatic: false,
  }
  /** Answers for the jobs of an account, or of the service, which the page changes. */
  async function replays(
    page: Page,
    under: string,
    kept: (typeof job)[],
    bodies: Record<string, unknown>[] = [],
  ) {
    await page.route(`**${under}/replay`, (route) => {
      const { data } = route.request().postDataJSON()
      bodies.push(data)
      const count = data.result === 'exhausted' ? 1_500 : 0
      if (data.dry_run) return route.fulfill({ json: { data: { count }, status: 'success' } })
      kept.unshift(job)
      return route.fulfill({ status: 202, json: { data: job, status: 'success' } })
    })
    await page.route(`**/replays?*`, (route) => route.fulfill({ json: { data: kept, status: 'success' } }))
    await page.route(`**/replays/*`, (route) => {
      const at = kept.findIndex(({ id }) => route.request().url().endsWith(id))
      if (route.request().method() === 'POST') {
        const { data } = route.request().postDataJSON()
        kept[at] = { ...kept[at]!, ...data }
      }
      return route.fulfill({ json: { data: kept[at], status: 'success' } })
    })
  }

  it('replay what all accounts did not get, for an operator', async ({ world, page }) => {
    const kept: (typeof job)[] = []
    const bodies: Record<string, unknown>[] = []
    await replays(page, '/system', kept, bodies)
    await logIn(page, world.url, world.apiKey)
    await page.getByRole('link', { name: 'Operator' }).click()
    await page.getByRole('button', { name: 'Replay not delivered…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Replay what was not delivered' })
    await dialog.getByText('Events of all webhooks of all accounts.').waitFor()
    await dialog.getByLabel('To').fill('2026-01-01T00:00')
    await dialog.getByLabel('From').fill('2026-01-02T00:00')
    await dialog.getByText('This time range ends before it begins.').waitFor()
    expect(await dialog.getByRole('button', { name: /^Replay/ }).isDisabled()).toBe(true)
    await dialog.getByLabel('From').fill('2025-12-31T00:00')
    await dialog.getByRole('button', { name: 'Replay 1,500 events' }).click()
    await dialog.waitFor({ state: 'detached' })
    const [sent] = bodies.filter(({ dry_run }) => !dry_run)
    expect(sent).toEqual({
      result: 'exhausted',
      created_from: GREGORIAN_EPOCH + Date.UTC(2025, 11, 31) / 1_000,
      created_to: GREGORIAN_EPOCH + Date.UTC(2026, 0, 1) / 1_000,
    })
  })

  it('show operators the state of the service', async ({ world, page, answer }) => {
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
})
