/** A call and an event that many webhooks want; the answers that need them are given here, in the form of the API. */
import { describe, expect } from 'vitest'
import { CHROMIUM } from './browser.js'
import { signedInTest as it, type PageFixtures } from './page-test.js'

const ids = Array.from({ length: 300 }, (_, index) => `w${index}`)

describe.skipIf(CHROMIUM === undefined)('what many webhooks want', () => {
  const callOf = (webhookIds: readonly string[]) => ({
    call_id: 'busy',
    legs: [{ call_id: 'busy' }],
    events: [
      {
        id: 'e1',
        call_id: 'busy',
        hook: 'channel_create',
        sequence: 1,
        timestamp: 63_937_000_000,
        happened_at: '2026-01-31T02:31:07.000Z',
        deliveries: webhookIds.map((id) => ({
          id: `d${id}`,
          hook_id: id,
          state: id === 'w299' ? 'exhausted' : 'delivered',
        })),
      },
    ],
    unwanted: [],
    truncated: false,
  })
  const openCall = async (
    { answer, open, page }: Pick<PageFixtures, 'answer' | 'open' | 'page'>,
    webhookIds: readonly string[],
  ) => {
    await answer('**/calls/busy', callOf(webhookIds))
    await answer('**/calls/busy/attempts?*', [])
    await open('calls/busy')
    await page.getByText('channel_create #1').waitFor()
  }

  it('is shown a part at a time, what lacks a delivery first, under the names of its webhooks', async ({
    page,
    open,
    answer,
  }) => {
    // A further page of webhooks, which the screen does not read.
    await answer('**/webhooks?*', [], { next_start_key: 'more' })
    await page.route(/\/webhooks\/w\d+$/, (route) => {
      const id = route.request().url().split('/').at(-1)
      return route.fulfill({ json: { data: { id, name: `Name of ${id}` }, status: 'success' } })
    })
    await openCall({ answer, open, page }, ids)
    const ladder = page.getByRole('region', { name: 'Events and deliveries of the call' })
    const columns = ladder.locator('.ladder-head a')
    expect(await columns.count()).toBe(50)
    expect(await columns.first().innerText()).toBe('Name of w299')
    expect(await ladder.locator('ul > li').count()).toBe(50)
    await page.getByText('50 of 300 are shown.').waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => columns.nth(99).innerText()).toBe('Name of w98')
  })

  it('does not widen the page beyond the ladder', async ({ page, open, answer }) => {
    await openCall({ answer, open, page }, ids.slice(0, 7))
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(1_280)
  })

  it('is listed a hundred webhooks at a time, with pauses, and an event that does not exist is called so', async ({
    page,
    open,
    answer,
  }) => {
    await answer(
      '**/events/match',
      ids.map((id) => ({ id, name: `Name of ${id}`, wanted: true })),
    )
    await answer('**/webhooks/health?*', [
      {
        id: 'w3',
        name: 'Name of w3',
        uri: 'http://x/',
        state: 'paused',
        paused_until: new Date(Date.now() + 240_500).toISOString(),
      },
    ])
    await open('match?hook=channel_create')
    const rows = page.locator('tbody tr')
    await rows.first().waitFor()
    expect(await rows.count()).toBe(100)
    expect(await rows.nth(2).innerText()).toMatch(/would be sent\s*$/)
    expect(await rows.nth(3).innerText()).toMatch(/would be sent\s+‖ paused probes again in/)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => rows.count()).toBe(200)
    await open('match?hook=no_such_event')
    await page.getByText('There is no event no_such_event.').waitFor()
    expect(await rows.count()).toBe(0)
  })

})
